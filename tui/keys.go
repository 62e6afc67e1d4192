package tui

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/gdamore/tcell/v2"
)

// A binding is a key with its action, and a button if it has a label.
type binding struct {
	keys        []string // see keyName; all do the same, and the first one is shown on the button
	label       string   // of the button; "" if there is none
	description string   // in the help
	do          func(key string)
}

// on returns a binding of keys, separated by blanks, to what they do.
func on(keys, label, description string, do func()) binding {
	return binding{strings.Fields(keys), label, description, func(string) { do() }}
}

// keyName returns a key as bindings write it: "d", "Space",
// "Enter", "PgDn", "Ctrl-D", "Backtab".
func keyName(e *tcell.EventKey) string {
	if e.Key() == tcell.KeyRune {
		if e.Rune() == ' ' {
			return "Space"
		}
		return string(e.Rune())
	}
	if e.Key() == tcell.KeyBackspace2 {
		return "Backspace"
	}
	return tcell.KeyNames[e.Key()]
}

// find returns the binding of a key, or nil.
func find(bindings []binding, key string) *binding {
	for i := range bindings {
		if slices.Contains(bindings[i].keys, key) {
			return &bindings[i]
		}
	}
	return nil
}

// appBindings are the bindings of every window.
func (a *app) appBindings() []binding {
	own := []binding{
		on(":", "Command", "a command or a call path; Tab completes",
			func() { commandLine{a, a.window()}.ask() }),
		on("? F1", "Help", "the keys of this window", func() { a.overlay = newHelp(a) }),
		on("I", "", "count the time in which goroutines wait for work (@idle), or leave it out",
			a.toggleIdle),
	}
	for _, k := range a.kinds() {
		own = append(own, k.bindings...)
	}
	own = append(own, a.tabBindings()...)
	if canSuspend {
		own = append(own, on("Ctrl-Z", "", "stop the Analyzer until the shell continues it (fg)",
			a.suspend))
	}
	return append(own,
		on("Ctrl-L", "", "redraw the screen", a.screen.Sync),
		on("q Ctrl-C", "Quit", "leave the Analyzer", a.quit),
	)
}

// key handles a key: the prompt or the overlay takes it, or its
// binding runs. Esc cancels a job; if there is none, it is a key
// like others.
func (a *app) key(e *tcell.EventKey) {
	name := keyName(e)
	if a.prompt != nil {
		a.prompt.key(a, e)
		return
	}
	a.message = message{}
	if a.overlay != nil {
		a.overlay.key(name)
		return
	}
	if name == "Esc" && a.cancel(a.window()) || a.waits(e) {
		return
	}
	if b := find(slices.Concat(a.window().bindings(), a.appBindings()), name); b != nil {
		b.do(name)
	}
}

// helpKeys is the width of the column of keys.
const helpKeys = 24

// A helpLine is a title, or keys, or a command, with what they do.
type helpLine struct{ left, right string }

// newHelp lists the keys and commands of the active window, from
// the tables that define them.
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

// drawn returns the lines on the screen for one line of the
// help: a long text goes on in the next line.
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

// A menu is a choice between a few things, each with its key.
type menu struct {
	a       *app
	title   string
	choices []binding
	area    canvas // of the choices, as drawn last
}

func (m *menu) draw(c canvas) {
	height := len(m.choices) + 2
	box := c.part(0, c.height-height, c.width, height)
	box.clear(m.a.theme.bar)
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
