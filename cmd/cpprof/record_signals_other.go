//go:build !unix

package main

import (
	"os"

	"golang.org/x/term"
)

// endSignals end a recording; suspendSignals stop this process until it is
// continued.
var endSignals, suspendSignals, keepSignals = []os.Signal{os.Interrupt}, []os.Signal(nil), []os.Signal(nil)

func ignoredAtStart(os.Signal) bool { return false }

func suspend() {}

func inForeground() bool { return term.IsTerminal(int(os.Stdin.Fd())) }
