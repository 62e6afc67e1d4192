//go:build !linux

package main

import "os"

func main() {
	os.Stderr.WriteString("truth: it records programs, which cpprof can do on Linux only\n")
	os.Exit(1)
}
