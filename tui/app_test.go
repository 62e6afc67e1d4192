package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/gdamore/tcell/v2"
)

func TestTheSummaryComesFirst(t *testing.T) {
	b := newBench(t, bob(t))
	b.shows(" 1 Summary", "bob.(*terminal).run", "? Help", "q Quit")
}

// ends reports whether the app has ended.
func (b *bench) ends() bool {
	select {
	case <-b.ended:
		return true
	case <-time.After(time.Minute):
		return false
	}
}

// appKeys has a test for every binding of the app, by its first
// key; the second of three windows is active before.
var appKeys = map[string]keyTest{
	":":       {check: shows("\n:")},
	"?":       {check: shows("Keys of this window")},
	"I":       {check: shows("The time in which goroutines wait for work (@idle) is left out: I counts it.")},
	"L":       {check: shows("4 Locks", "lock taken in bob.(*manager).transact")},
	"W":       {check: shows("4 Why", "go:bob.(*terminal).run (5.0 goroutines) spends 80.0 %")},
	"T":       {check: shows("4 Tree", "Thread View of go:bob.(*terminal).run: ")},
	"1":       {check: shows("⏎ Open  s Server")},
	"Tab":     {check: shows("Server View")},
	"Backtab": {check: shows("⏎ Open  s Server")},
	"x":       {check: hides("Thread View")},
	"Ctrl-L":  {check: shows("Thread View")},
	"q":       {check: func(t *testing.T, b *bench) {}},
}

// A name of a million bytes, whatever it consists of, does not
// keep a person waiting.
func TestLongNamesLong(t *testing.T) {
	fixture.Long(t)
	for _, unit := range []string{"x", "a/", "\x1b", "é ", "/", "e\u0301"} {
		o := bob(t)
		long := strings.Repeat(unit, 1<<20/len(unit))
		for i := range o.Recording.Functions {
			o.Recording.Functions[i].Name += long
		}
		b := newBench(t, o)
		b.press("Enter")
		b.keys("d", "j", "e", "i")
		b.press("q")
		<-b.ended
	}
}

func TestEveryKeyOfTheApp(t *testing.T) {
	var bindings []binding
	first := bobThread(t)
	first.do(func() { bindings = first.appBindings() })
	for _, own := range bindings {
		if own.keys[0] == "Ctrl-Z" {
			continue // it would stop this test; see TestTheShellSuspendsTheAnalyzer of cmd/cpprof
		}
		test, ok := appKeys[own.keys[0]]
		if !ok {
			t.Errorf("there is no test for the key %s: %s", own.keys[0], own.description)
			continue
		}
		for _, key := range own.keys {
			if own.keys[0] == "1" && key != "1" {
				continue // the other windows' numbers
			}
			for _, byMouse := range []bool{false, true} {
				if byMouse && (own.label == "" || key != own.keys[0]) {
					continue
				}
				t.Run(key, func(t *testing.T) {
					b := bobThread(t)
					b.do(func() { openServer(b.app); b.show(1) })
					b.waitForJobs()
					switch {
					case own.keys[0] == "q" && byMouse:
						x, y := b.find("q Quit")
						b.event(tcell.NewEventMouse(x, y, tcell.ButtonPrimary, tcell.ModNone))
						b.event(tcell.NewEventMouse(x, y, tcell.ButtonNone, tcell.ModNone))
					case own.keys[0] == "q":
						b.press(key)
					case byMouse:
						b.click(own.face(b.screen) + " " + own.label)
					default:
						b.keys(key)
					}
					if own.keys[0] == "q" {
						if !b.ends() {
							t.Error("the app is still running")
						}
						return
					}
					test.check(t, b)
				})
			}
		}
	}
}

func TestTabs(t *testing.T) {
	b := bobThread(t)
	b.do(func() { openServer(b.app) })
	b.waitForJobs()
	b.shows(" 1 Summary  2 go:bob.(*terminal).run  3 Server", "Server View  3.0 s = 1.000")
	b.click("2 go:bob")
	b.shows("Thread View of")
	b.keys("3")
	b.shows("Server View  3.0 s = 1.000")
	b.keys("9")
	b.shows("Server View  3.0 s = 1.000")
	b.keys("x", "x", "x")
	b.shows(" 1 Summary\n", "The summary cannot be closed")
	for range 9 {
		b.do(func() { openServer(b.app) })
	}
	b.waitForJobs()
	b.resize(40, 24)
	b.shows("‹", "10 Server")
	b.keys("1")
	b.shows(" 1 Summary  2 Server", "›")
}

func TestHelpListsTheBindings(t *testing.T) {
	b := bobThread(t)
	b.resize(120, 110)
	b.keys("?")
	var all []binding
	var commands []command
	b.do(func() {
		all = append(b.profile().bindings(), b.appBindings()...)
		commands = b.allCommands(b.profile())
	})
	for _, own := range all {
		b.shows(own.description)
	}
	for _, c := range commands {
		b.shows(c.name, c.description)
	}
	b.keys("Esc")
	b.hides("Keys of this window")
	b.resize(80, 10)
	b.click("? Help")
	b.shows("Keys of this window", "▼ more")
	b.keys("G")
	b.hides("▼ more", "Thread View of")
	b.keys("Home", "End", "g")
	b.shows("Keys of this window", "▼ more")
	b.keys("j", "PgDn", "Space", "PgUp", "k")
	b.wheel(10, 5, tcell.WheelUp)
	b.hides("Thread View of")
	b.clickAt(10, 4)
	b.shows("Thread View of")
}

// A terminal of 80x24 has room for the keys that matter.
func TestButtonsAt80Columns(t *testing.T) {
	b := bobThread(t)
	b.shows("U Undo", "a Auto", "L Locks", ": Command", "? Help", "q Quit")
	b.click("L Locks")
	b.shows("lock taken in bob.(*manager).transact")
	b.keys("x")
	b.resize(200, 24)
	b.shows("? Help  L Locks  W Why  q Quit", "\n\nd Down")
	b.resize(80, 12)
	b.shows("q Quit\n")
	b.hides("U Undo")
}

func TestPruneMenu(t *testing.T) {
	for _, c := range []struct {
		key, button string
		check       func(*testing.T, *bench)
	}{
		{"o", "only it", shows("pruned to "+terminals+" ..:MONITOR", "0.800   120  ▾ "+terminals)},
		{"a", "away", shows("pruned to not "+terminals, "0.200    30  ▾ "+terminals)},
		{"Esc", "Esc  neither", hides("pruned", "neither")},
	} {
		t.Run(c.key, func(t *testing.T) {
			byKey, byMouse := bobThread(t), bobThread(t)
			for _, b := range []*bench{byKey, byMouse} {
				b.resize(140, 24)
				b.keys("G", "p")
			}
			byKey.keys(c.key)
			byMouse.click(c.button)
			for _, b := range []*bench{byKey, byMouse} {
				c.check(t, b)
				b.keys("U")
				b.shows("1.000   150  ▾ " + terminals)
			}
		})
	}
}
