//go:build !linux

package main

import "os"

func main() {
	os.Stderr.WriteString("torture: it needs /proc and ptrace, which only Linux has\n")
	os.Exit(1)
}
