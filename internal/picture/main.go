// Command picture draws a terminal's screen as SVG. It reads the output of 'tmux capture-pane -p -e -N';
// docs/pictures.sh makes the pictures of the documentation with it.
//
//	tmux capture-pane -p -e -N | go run ./internal/picture 'The Analyzer' > screen.svg
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: picture TITLE < SCREEN > PICTURE.svg")
		os.Exit(2)
	}
	screen, err := readScreen(os.Stdin)
	if err == nil {
		err = writeSVG(os.Stdout, screen, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}
