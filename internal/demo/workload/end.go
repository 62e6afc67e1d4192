package main

import (
	"io"
	"os"
	"time"
)

// waitForEnd returns when the lifetime is over, or when the process that started this one is gone.
func waitForEnd(lifetime time.Duration) {
	parent := os.Getppid()
	end := time.Now().Add(lifetime)
	for time.Now().Before(end) && os.Getppid() == parent {
		time.Sleep(250 * time.Millisecond)
	}
}

// watchStdin ends the program when its standard input ends.
func watchStdin() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
