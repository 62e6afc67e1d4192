package tui

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

func TestMouseSelectsAndOpens(t *testing.T) {
	b := bobThread(t)
	b.click("bob.(*manager).stamp")
	chooses("bob.(*manager).stamp")(t, b)
	b.click("..:MONITOR")
	chooses("..:MONITOR")(t, b)
	x, y := b.find("▾ bob.(*manager).transact")
	b.clickAt(x, y)
	b.shows("▸ bob.(*manager).transact")
	b.hides("bob.(*manager).stamp")
	b.clickAt(x, y)
	b.shows("▾ bob.(*manager).transact", "bob.(*manager).stamp")
	b.clickAt(70, 18) // below the last entry
	chooses("bob.(*manager).transact")(t, b)
}

// A double click acts as Enter on an entry; two quick clicks on
// two entries only select.
func TestDoubleClick(t *testing.T) {
	b := bobThread(t)
	x, y := b.find("sync.(*Mutex).Lock")
	b.do(func() { b.profile().mouse(mouseClick, x, y) })
	b.do(func() { b.profile().mouse(mouseDoubleClick, x, y) })
	b.waitForJobs()
	b.shows("▾ sync.(*Mutex).Lock")
	chooses("bob.(*manager).stamp")(t, b)
	r := newRoot(b.app)
	for _, c := range []struct {
		action, want mouseAction
		x            int
	}{
		{mouseClick, mouseClick, 3},
		{mouseDoubleClick, mouseDoubleClick, 3},
		{mouseDoubleClick, mouseClick, 4},
		{mouseDoubleClick, mouseDoubleClick, 4},
		{wheelUp, wheelUp, 9},
	} {
		if got := r.sameCell(c.action, c.x, 5); got != c.want {
			t.Errorf("action %d in column %d is %d, want %d", c.action, c.x, got, c.want)
		}
	}
}

func TestMouseMovesTheThreshold(t *testing.T) {
	b := bobThread(t)
	x, y := b.find("●")
	b.mouse(x, y, tcell.ButtonPrimary)
	for column := x; column <= x+5; column++ {
		b.mouse(column, y, tcell.ButtonPrimary)
	}
	b.shows("30 hits (cost 0.200)", "2 hidden")
	b.mouse(x+5, y, tcell.ButtonNone)
	b.mouse(x, y-5, tcell.ButtonNone)
	b.shows("30 hits (cost 0.200)")
	x, y = b.find("[ ─")
	b.clickAt(x, y)
	b.shows("20 hits (cost 0.133)", "1 hidden")
	x, y = b.find("─ ]")
	b.clickAt(x+2, y)
	b.shows("30 hits (cost 0.200)")
	b.clickAt(strings.Index(" Threshold [ ", "[")+2, y) // the start of the track
	b.shows(" 0 hits (cost 0.000)")
	b.hides("hidden")
}

func TestSliderStops(t *testing.T) {
	for _, c := range []struct {
		root int64
		want string
	}{
		{0, "0 1 2 3 5 7"},
		{12, "0 1 2 3 5 7 10"},
		{150, "0 1 2 3 5 7 10 15 20 30 50 70 100 150"},
	} {
		var got []string
		for _, s := range sliderStops(hits(c.root)) {
			got = append(got, s.Num().String())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("for %d hits: %s, want %s", c.root, text, c.want)
		}
	}
}

func TestWheelScrollsTheDetails(t *testing.T) {
	b := bobThread(t)
	b.keys("j", "v")
	x, y := b.find("cost 1.000")
	b.wheel(x, y, tcell.WheelDown)
	b.shows("▲1 ▼0")
	chooses("bob.(*terminal).run")(t, b)
}
