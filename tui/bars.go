package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/gdamore/tcell/v2"
)

// maxTab is the width of the longest title in a tab.
const maxTab = 24

// drawTabs draws a tab for every window, the active one
// highlighted. If there is not enough room for all, it draws
// those around the active one.
func (r *root) drawTabs(c canvas) {
	a := r.a
	c.clear(a.theme.bar)
	c = a.drawCounted(a.live.drawBadge(c))
	labels := make([]string, len(a.windows))
	for i, w := range a.windows {
		labels[i] = fmt.Sprintf(" %d %s ", i+1, shorten(w.title(), maxTab))
	}
	first := 0
	for first < a.active && textWidth(strings.Join(labels[first:a.active+1], "")) > c.width-2 {
		first++
	}
	x := 0
	if first > 0 {
		x = c.text(x, 0, "‹", a.theme.bar)
	}
	for i := first; i < len(labels); i++ {
		if x+textWidth(labels[i]) > c.width && i > a.active {
			c.text(c.width-1, 0, "›", a.theme.bar)
			break
		}
		style := a.theme.bar
		if i == a.active {
			style = a.theme.selected.Bold(true)
		}
		end := c.text(x, 0, labels[i], style)
		r.regions = append(r.regions, region{c.y, c.x + x, c.x + end, func() { a.show(i) }})
		x = end
	}
}

// drawStatus draws the active window's job, or else the message.
// It uses the canvas's last line, and more lines above if the
// text is longer.
func (r *root) drawStatus(c canvas) {
	a := r.a
	style, text := a.theme.plain, a.message.text
	if a.message.isErr {
		style = a.theme.err
	}
	if j := a.jobs[a.window()]; j != nil {
		style, text = a.theme.title, j.progress(time.Now())
	}
	lines := wrap(text, c.width)
	for i, line := range lines {
		y := c.height - len(lines) + i
		c.fill(y, a.theme.plain)
		c.text(0, y, line, style)
	}
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress describes a job and its duration so far. It returns
// "" for a very short job: the line must not flicker.
func (j *job) progress(now time.Time) string {
	took := now.Sub(j.began)
	if took < progressTick {
		return ""
	}
	turn := spinner[int(took/progressTick)%len(spinner)]
	return fmt.Sprintf("%s %s … %.1f s (Esc cancels)", turn, j.what, took.Seconds())
}

// tallEnough is the height from which the buttons may take two lines.
const tallEnough = 20

// A button is a key on the screen that can be clicked.
type button struct {
	binding
	face  string
	click func()
}

// buttons returns the lines of buttons: as many of the window's
// as fit, and the app's. There are two lines only if one has no
// room for all.
func (r *root) buttons(width, height int) [][]button {
	a := r.a
	w := a.window()
	own := lists.Each(labelled(w.bindings()), func(b binding) button {
		return button{b, b.face(a.screen), func() { a.act(w, func() { b.do(b.keys[0]) }) }}
	})
	common := lists.Each(labelled(a.appBindings()), func(b binding) button {
		return button{b, b.face(a.screen), func() { b.do(b.keys[0]) }}
	})
	room := width + buttonGap
	if buttonsWidth(own)+buttonsWidth(common) <= room {
		return [][]button{append(own, common...)}
	}
	var lines [][]button
	if height >= tallEnough {
		n := fitting(own, room)
		lines, own = append(lines, own[:n]), own[n:]
	}
	n := fitting(own, room-buttonsWidth(common))
	return append(lines, append(own[:n:n], common...))
}

// fitting returns the number of buttons that have room on a line.
func fitting(all []button, room int) int {
	n := 0
	for n < len(all) && buttonsWidth(all[:n+1]) <= room {
		n++
	}
	return n
}

// drawButtons draws lines of buttons.
func (r *root) drawButtons(c canvas, lines [][]button) {
	for y, line := range lines {
		x := 0
		for _, b := range line {
			end := c.text(x, y, b.face, r.a.theme.key)
			end = c.text(end+1, y, b.label, r.a.theme.plain)
			r.regions = append(r.regions, region{c.y + y, c.x + x, c.x + end, b.click})
			x = end + buttonGap
		}
	}
}

// face returns the key as a button shows it on a screen.
func (b *binding) face(on tcell.Screen) string {
	if b.keys[0] == "Enter" && strings.HasPrefix(on.CharacterSet(), "UTF-") {
		return "⏎"
	}
	return b.keys[0]
}

func labelled(bindings []binding) []binding {
	return slices.DeleteFunc(slices.Clone(bindings), func(b binding) bool { return b.label == "" })
}

// buttonGap is the number of blanks between two buttons.
const buttonGap = 2

// buttonsWidth returns the width of buttons with the gap behind each.
func buttonsWidth(buttons []button) (sum int) {
	for _, b := range buttons {
		sum += textWidth(b.face) + 1 + textWidth(b.label) + buttonGap
	}
	return sum
}
