//go:build !unix

package main

import (
	"os"

	"golang.org/x/term"
)

func notifySuspend(chan<- os.Signal) {}

func suspend() {}

func inForeground() bool { return term.IsTerminal(int(os.Stdin.Fd())) }
