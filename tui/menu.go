package tui

import "github.com/cpprof/cpprof/internal/termtext"

// A menu is a choice between a few things, each with its key.
type menu struct {
	a       *app
	title   string
	choices []binding
	area    canvas // of the choices, as drawn last
}

func newMenu(a *app, title string, choices []binding) *menu {
	return &menu{a: a, title: title, choices: choices}
}

func (m *menu) draw(c canvas) {
	height := len(m.choices) + 2
	box := c.part(0, c.height-height, c.width, height)
	for y := range height {
		box.fill(0, y, m.a.theme.bar)
	}
	box.text(1, 0, termtext.Cut(m.title, box.width-2), m.a.theme.bar.Bold(true))
	m.area = box.part(0, 1, box.width, len(m.choices))
	for y, b := range m.choices {
		x := m.area.text(3, y, b.keys[0], m.a.theme.bar.Bold(true))
		m.area.text(x+2, y, b.label, m.a.theme.bar)
	}
	box.text(3, height-1, "Esc  neither", m.a.theme.bar)
}

func (m *menu) scroll(int) {}

// key runs the choice of a key. Every other key closes the menu.
func (m *menu) key(name string) {
	m.a.overlay = nil
	if b := find(m.choices, name); b != nil {
		b.do(name)
	}
}

func (m *menu) click(x, y int) {
	_, line, ok := m.area.has(x, y)
	if !ok {
		m.a.overlay = nil
		return
	}
	m.key(m.choices[line].keys[0])
}
