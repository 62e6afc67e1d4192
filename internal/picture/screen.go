package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A cell is one character of a terminal's screen.
type cell struct {
	r rune
	style
}

// A style is the look of a character. A colour is "#rrggbb", or "" for the terminal's own.
type style struct {
	fore, back         string
	bold, dim, reverse bool
}

// readScreen reads the output of 'tmux capture-pane -p -e -N': the lines of a screen, with escape sequences that set the
// style of the characters after them, also on later lines.
func readScreen(in io.Reader) ([][]cell, error) {
	var screen [][]cell
	var now style
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line, err := readLine(lines.Text(), &now)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(screen)+1, err)
		}
		screen = append(screen, line)
	}
	return screen, lines.Err()
}

func readLine(text string, now *style) ([]cell, error) {
	var line []cell
	for text != "" {
		rest, ok := strings.CutPrefix(text, "\x1b[")
		if !ok {
			r := []rune(text)[0]
			line = append(line, cell{r, *now})
			text = text[len(string(r)):]
			continue
		}
		parameters, after, ok := strings.Cut(rest, "m")
		if !ok {
			return nil, fmt.Errorf("escape sequence %q does not end", rest)
		}
		if err := now.set(strings.Split(parameters, ";")); err != nil {
			return nil, err
		}
		text = after
	}
	return line, nil
}

// set applies the parameters of an escape sequence that sets the style.
func (s *style) set(parameters []string) error {
	for len(parameters) > 0 {
		p := parameters[0]
		parameters = parameters[1:]
		switch p {
		case "", "0":
			*s = style{}
		case "1":
			s.bold = true
		case "2":
			s.dim = true
		case "7":
			s.reverse = true
		case "39":
			s.fore = ""
		case "49":
			s.back = ""
		case "38", "48":
			color, err := trueColor(parameters)
			if err != nil {
				return err
			}
			parameters = parameters[4:]
			if p == "38" {
				s.fore = color
			} else {
				s.back = color
			}
		default:
			return fmt.Errorf("unknown attribute %q: want a screen in true colour (COLORTERM=truecolor)", p)
		}
	}
	return nil
}

// trueColor reads the parameters of a colour, such as 2 for true colour and then 230, 20 and 0.
func trueColor(parameters []string) (string, error) {
	if len(parameters) < 4 || parameters[0] != "2" {
		return "", fmt.Errorf("colour %q: want a screen in true colour (COLORTERM=truecolor)", parameters)
	}
	color := "#"
	for _, p := range parameters[1:4] {
		x, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return "", fmt.Errorf("colour %q: %w", parameters, err)
		}
		color += fmt.Sprintf("%02x", x)
	}
	return color, nil
}
