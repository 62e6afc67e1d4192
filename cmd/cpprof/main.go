// Command cpprof records the call paths of running Go programs and shows
// where their time goes.
package main

import (
	"context"
	"os"

	"golang.org/x/term"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == orderDeskArgument {
		orderDesk()
		return
	}
	t := terminal{
		in:  os.Stdin,
		out: os.Stdout,
		err: os.Stderr,

		inIsTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outIsTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errIsTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if t.outIsTerminal {
		t.out = asciiOr(os.Stdout, os.Getenv)
	}
	if t.errIsTerminal {
		t.err = asciiOr(os.Stderr, os.Getenv)
	}
	t.color = wantsColor(t.outIsTerminal, os.Getenv)
	os.Exit(run(context.Background(), os.Args[1:], t))
}

// wantsColor reports whether the output has colours: at a terminal, unless
// the environment decides.
func wantsColor(terminal bool, env func(string) string) bool {
	if force := env("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return terminal && env("NO_COLOR") == "" && env("TERM") != "dumb"
}
