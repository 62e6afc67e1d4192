//go:build !linux

package main

import "os"

func main() {
	os.Stderr.WriteString("work: its workloads use system calls of Linux\n")
	os.Exit(1)
}
