package tui

import "strings"

// A help lists the keys and commands of the window over which it stands, from the tables that bind them.
type help struct {
	a     *app
	lines []helpLine
	top   int // the first line shown
	page  int // lines of the last drawing
}

type helpLine struct{ left, right string }

func newHelp(a *app) *help {
	h := &help{a: a}
	w := a.window()
	h.add("Keys of this window", w.bindings())
	h.add("Keys of every window", a.appBindings())
	h.lines = append(h.lines, helpLine{left: "Commands, after a colon"})
	for _, c := range a.allCommands(w) {
		h.lines = append(h.lines, helpLine{strings.TrimSpace(c.name + " " + c.args), c.description})
	}
	return h
}

// helpKeys is the width of the column of keys.
const helpKeys = 24

func (h *help) add(title string, bindings []binding) {
	h.lines = append(h.lines, helpLine{left: title})
	for _, b := range bindings {
		keys := strings.Join(b.keys, " ")
		if len(b.keys) > 6 {
			keys = b.keys[0] + " .. " + b.keys[len(b.keys)-1]
		}
		h.lines = append(h.lines, helpLine{keys, b.description})
	}
	h.lines = append(h.lines, helpLine{})
}

func (h *help) draw(c canvas) {
	h.page = c.height
	h.top = max(0, min(h.top, len(h.lines)-h.page))
	c.clear(h.a.theme.plain)
	for y := 0; y < c.height && h.top+y < len(h.lines); y++ {
		l := h.lines[h.top+y]
		if l.right == "" {
			c.text(1, y, l.left, h.a.theme.title)
			continue
		}
		x := c.text(3, y, l.left, h.a.theme.key)
		c.text(max(3+helpKeys, x+2), y, l.right, h.a.theme.plain)
	}
	if rest := len(h.lines) - h.top - c.height; rest > 0 {
		c.fill(0, c.height-1, h.a.theme.plain)
		c.text(1, c.height-1, "▼ more", h.a.theme.dim)
	}
}

func (h *help) scroll(lines int) { h.top += lines }

// key scrolls; every other key ends the help.
func (h *help) key(name string) {
	switch name {
	case "j", "Down":
		h.scroll(1)
	case "k", "Up":
		h.scroll(-1)
	case "PgDn", "Space", "Ctrl-F":
		h.scroll(h.page)
	case "PgUp", "Ctrl-B":
		h.scroll(-h.page)
	default:
		h.a.overlay = nil
	}
}
