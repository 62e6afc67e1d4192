package tui

import "strings"

// helpKeys is the width of the column of keys.
const helpKeys = 24

// A helpLine is a title, or keys, or a command, with what they do.
type helpLine struct{ left, right string }

// newHelp lists the keys and commands of the active window, from the tables
// that define them.
func newHelp(a *app) *page {
	var lines []helpLine
	add := func(title string, bindings []binding) {
		lines = append(lines, helpLine{left: title})
		for _, b := range bindings {
			keys := strings.Join(b.keys, " ")
			if len(b.keys) > 6 {
				keys = b.keys[0] + " .. " + b.keys[len(b.keys)-1]
			}
			lines = append(lines, helpLine{keys, b.description})
		}
		lines = append(lines, helpLine{})
	}
	w := a.window()
	add("Keys of this window", w.bindings())
	add("Keys of every window", a.appBindings())
	lines = append(lines, helpLine{left: "Commands, after a colon"})
	for _, c := range a.allCommands(w) {
		lines = append(lines, helpLine{strings.TrimSpace(c.name + " " + c.args), c.description})
	}
	return &page{a: a, lines: func(width int) (drawn []func(canvas)) {
		for _, l := range lines {
			drawn = append(drawn, l.drawn(a.theme, width)...)
		}
		return drawn
	}}
}

// drawn returns the lines on the screen for one line of the help: a long text
// goes on in the next line.
func (l helpLine) drawn(t *theme, width int) (lines []func(canvas)) {
	if l.right == "" {
		return append(lines, func(c canvas) { c.text(1, 0, l.left, t.title) })
	}
	x := max(3+helpKeys, 3+textWidth(l.left)+2)
	for i, text := range wrap(l.right, max(width-x, 1)) {
		lines = append(lines, func(c canvas) {
			if i == 0 {
				c.text(3, 0, l.left, t.key)
			}
			c.text(x, 0, text, t.plain)
		})
	}
	return lines
}
