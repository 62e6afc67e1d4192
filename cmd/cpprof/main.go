// Command cpprof records the call paths of running Go programs and shows where their time goes.
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
		noColor:       os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
	}
	os.Exit(run(context.Background(), os.Args[1:], t))
}
