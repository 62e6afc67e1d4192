package tui

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/gdamore/tcell/v2"
)

// A prompt asks for a line of text, in place of the status line.
type prompt struct {
	label    string // before the text, such as ":"; each label has its own history
	text     string
	cursor   int                     // in bytes
	err      error                   // of the last text
	complete func(string) []string   // returns completions of the whole text; nil if there are none
	done     func(text string) error // an error keeps the prompt open

	choices []string // of the current completion
	choice  int      // -1: none was taken yet
	back    int      // number of lines back in the history
}

// ask opens a prompt for a line of text; initial is its first text.
func (a *app) ask(label, initial string, complete func(string) []string, done func(string) error) {
	a.prompt = &prompt{label: label, text: initial, cursor: len(initial), complete: complete,
		done: done, choice: -1}
}

// key edits the line.
func (p *prompt) key(a *app, e *tcell.EventKey) {
	switch key := keyName(e); key {
	case "Tab", "Backtab":
		p.nextChoice(map[string]int{"Tab": 1, "Backtab": -1}[key])
		return
	case "Enter":
		p.enter(a)
	case "Esc", "Ctrl-C", "Ctrl-G":
		if len(p.choices) == 0 || key != "Esc" {
			a.prompt = nil
		}
	case "Up", "Ctrl-P":
		p.recall(a.history[p.label], p.back+1)
	case "Down", "Ctrl-N":
		p.recall(a.history[p.label], p.back-1)
	default:
		p.edit(key, e)
	}
	p.choices = nil
}

func (p *prompt) edit(key string, e *tcell.EventKey) {
	switch key {
	case "Left", "Ctrl-B":
		p.cursor -= p.before()
	case "Right", "Ctrl-F":
		_, size := utf8.DecodeRuneInString(p.text[p.cursor:])
		p.cursor += size
	case "Home", "Ctrl-A":
		p.cursor = 0
	case "End", "Ctrl-E":
		p.cursor = len(p.text)
	case "Backspace", "Ctrl-H":
		p.replace(p.cursor-p.before(), "")
	case "Delete", "Ctrl-D":
		_, size := utf8.DecodeRuneInString(p.text[p.cursor:])
		p.text, p.err = p.text[:p.cursor]+p.text[p.cursor+size:], nil
	case "Ctrl-U":
		p.replace(0, "")
	case "Ctrl-W":
		head := strings.TrimRight(p.text[:p.cursor], " ")
		p.replace(strings.LastIndexByte(head, ' ')+1, "")
	default:
		if e.Key() == tcell.KeyRune && e.Modifiers()&tcell.ModAlt == 0 {
			p.insert(string(e.Rune()))
		}
	}
}

// before returns the length of the character before the cursor.
func (p *prompt) before() int {
	_, size := utf8.DecodeLastRuneInString(p.text[:p.cursor])
	return size
}

// replace replaces the text between a position and the cursor.
func (p *prompt) replace(from int, text string) {
	p.text = p.text[:from] + text + p.text[p.cursor:]
	p.cursor, p.err = from+len(text), nil
}

// insert inserts the first line of a text at the cursor.
func (p *prompt) insert(text string) {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	p.replace(p.cursor, line)
}

func (p *prompt) enter(a *app) {
	text := strings.TrimSpace(p.text)
	if text != "" {
		h := slices.DeleteFunc(a.history[p.label], func(l string) bool { return l == text })
		a.history[p.label] = append(h, text)
	}
	a.prompt = nil
	if p.err = p.done(text); p.err != nil {
		p.text, p.cursor = text, len(text)
		a.prompt = p
	}
}

// recall shows a line of the history; 1 is the last one.
func (p *prompt) recall(history []string, back int) {
	if back < 0 || back > len(history) {
		return
	}
	p.back, p.text, p.err = back, "", nil
	if back > 0 {
		p.text = history[len(history)-back]
	}
	p.cursor = len(p.text)
}

// nextChoice completes the text: first to the common prefix of
// all choices, then to one choice after another.
func (p *prompt) nextChoice(by int) {
	if p.complete == nil {
		return
	}
	typed := p.text[:p.cursor]
	if len(p.choices) == 0 {
		p.choices, p.choice = p.complete(typed), -1
		switch common := words.CommonPrefix(p.choices); {
		case len(p.choices) == 1:
			p.replace(0, common)
			p.choices = nil
			return
		case len(common) > len(typed) && strings.HasPrefix(common, typed):
			p.replace(0, common)
			return
		}
	}
	n := len(p.choices)
	switch {
	case n == 0:
		return
	case p.choice < 0 && by < 0:
		p.choice = n - 1
	default:
		p.choice = (p.choice + by + n) % n
	}
	p.replace(0, p.choices[p.choice])
}

// maxChoices is the number of choices that are shown at once.
const maxChoices = 8

// draw draws the prompt on the canvas's last line, and above it
// the choices, or the error with its caret.
func (p *prompt) draw(c canvas, t *theme) {
	bottom := c.height - 1
	c.fill(bottom, t.plain)
	x := c.text(0, bottom, p.label, t.key)
	room := max(1, c.width-x-1)
	before := textWidth(p.text[:p.cursor])
	shift := max(0, before-room)
	line := c.part(x, bottom, c.width-x, 1)
	line.text(-shift, 0, p.text, t.plain)
	c.screen.ShowCursor(line.x+before-shift, line.y)
	var above []string
	if p.err != nil {
		above = p.errorLines(x - shift)
	} else if len(p.choices) > 0 {
		first := max(0, min(p.choice-maxChoices/2, len(p.choices)-maxChoices))
		above = p.choices[first:min(len(p.choices), first+maxChoices)]
	}
	for i, text := range above {
		y := bottom - len(above) + i
		c.fill(y, t.bar)
		style := t.bar
		switch {
		case p.err != nil:
			style = t.err
		case p.choice >= 0 && text == p.choices[p.choice]:
			style = t.selected
		}
		c.text(0, y, text, style)
	}
}

// errorLines returns an error's lines; the caret of a syntax
// error comes last, above its position in the line.
func (p *prompt) errorLines(x int) []string {
	if syntax, ok := errors.AsType[*callpath.SyntaxError](p.err); ok {
		if at := strings.LastIndex(p.text, syntax.Input); at >= 0 {
			column := x + textWidth(p.text[:at+syntax.Offset])
			return []string{syntax.Msg, strings.Repeat(" ", max(0, column)) + "▼"}
		}
	}
	return strings.Split(p.err.Error(), "\n")
}
