package tui

import "strings"

// helpKeys is the width of the column of keys.
const helpKeys = 24

// newHelp lists the keys and commands of the window in front, from the tables that bind them.
func newHelp(a *app) *page {
	w, t := a.window(), a.theme
	var lines []func(canvas)
	title := func(text string) {
		lines = append(lines, func(c canvas) { c.text(1, 0, text, t.title) })
	}
	line := func(left, right string) {
		lines = append(lines, func(c canvas) {
			x := c.text(3, 0, left, t.key)
			c.text(max(3+helpKeys, x+2), 0, right, t.plain)
		})
	}
	add := func(of string, bindings []binding) {
		title(of)
		for _, b := range bindings {
			keys := strings.Join(b.keys, " ")
			if len(b.keys) > 6 {
				keys = b.keys[0] + " .. " + b.keys[len(b.keys)-1]
			}
			line(keys, b.description)
		}
		title("")
	}
	add("Keys of this window", w.bindings())
	add("Keys of every window", a.appBindings())
	title("Commands, after a colon")
	for _, c := range a.allCommands(w) {
		line(strings.TrimSpace(c.name+" "+c.args), c.description)
	}
	return &page{a: a, lines: func(int) []func(canvas) { return lines }}
}
