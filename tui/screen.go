package tui

import (
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/internal/report/plots"
	"github.com/gdamore/tcell/v2"
	"github.com/gdamore/tcell/v2/terminfo"
)

// openTerminal opens a screen, or the terminal of this process
// if screen is nil.
func openTerminal(screen tcell.Screen) (*terminal, error) {
	var t *tty
	if screen == nil {
		var err error
		if screen, t, err = newScreen(); err != nil {
			return nil, err
		}
	}
	return initialized(screen, t)
}

// initialized takes the terminal for a screen.
func initialized(screen tcell.Screen, t *tty) (*terminal, error) {
	if err := screen.Init(); err != nil {
		return nil, err
	}
	for r, text := range asciiOf {
		screen.RegisterRuneFallback(r, text)
	}
	for r := plots.NoDots; r < plots.NoDots+1<<8; r++ { // of a scatter plot
		text := ":"
		if r == plots.NoDots {
			text = " "
		}
		screen.RegisterRuneFallback(r, text)
	}
	return newTerminal(screen, t), nil
}

// terminalOf returns the description of the terminal that TERM names.
func terminalOf(name string) (*terminfo.Terminfo, error) {
	const remedy = "set it to the name of your terminal's kind, such as TERM=xterm-256color"
	if name == "" {
		return nil, errors.New("the environment variable TERM is not set: " + remedy)
	}
	found, err := tcell.LookupTerminfo(name)
	if err != nil {
		return nil, fmt.Errorf("the environment variable TERM is %q, which is not known here: %s: %w", name, remedy, err)
	}
	own := *found
	// If the locale has no lines, tcell would draw them with the
	// terminal's second character set. It writes the sequences
	// that switch sets as they are described, with their
	// padding. Some of the characters don't exist in that set.
	own.AltChars = ""
	return &own, nil
}

// asciiOf has a replacement for each character of the Analyzer
// that isn't ASCII. It is drawn in a locale without the
// character, such as C.
var asciiOf = map[rune]string{
	'─': "-", '━': "=",
	'▸': ">", '▾': "v", '›': ">", '‹': "<", '▲': "^", '▼': "v",
	'█': "#", '▓': "%", '▒': "+", '░': "-", '·': ".", // heatIcons
	'▇': "@", '▆': "*", '▅': "o", '▄': "=", '▀': "^", '▃': ":", '▂': ",", '▁': "_",
	'●': "*", '■': "#", '◆': "*",
	'│': "|", '├': "|", '┤': "|", '└': "+", '⊂': "<", '∝': "~",
	'…': "~", '⏎': "^", '±': "~", '×': "x", 'µ': "u", 'Δ': "d",
	'⠋': "|", '⠙': "/", '⠹': "-", '⠸': "\\", '⠼': "|", '⠴': "/", '⠦': "-", '⠧': "\\",
	'⠇': "|", '⠏': "/",
}
