package tui

import (
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/gdamore/tcell/v2"
)

// callsKeys has a test for every binding of a window of calls,
// by its first key. The cursor begins at the first of the
// slowest.
var callsKeys = map[string]keyTest{
	"Space": {unseen: true, check: func(t *testing.T, b *bench) { b.keys("G"); b.shows("100 calls in the rectangle") }},
	"Enter": {check: shows("⊂ main.send >= ", ": 1 call")},
	"a":     {keys: []string{"Enter"}, check: hides("⊂")},
	"s":     {keys: []string{"G"}, check: shows("1 call here: >= 158ms")},
	"Esc":   {keys: []string{"Space", "l"}, check: hides("in the rectangle")},
	"l":     {check: shows("0 calls here: ")},
	"+":     {check: shows("1 call here: >= 158ms", "1.75 s")},
	"-":     {keys: []string{"+"}, check: shows("3.45 s")},
	"0":     {keys: []string{"+", "+"}, check: shows("3.45 s")},
	"h":     {keys: []string{"l"}, check: shows("1 call here: >= 158ms")},
	"j":     {check: shows("0 calls here: >= 1")},
	"k":     {keys: []string{"j"}, check: shows("1 call here: >= 158ms")},
	"PgDn":  {check: shows("s here: ")},
	"PgUp":  {keys: []string{"PgDn", "PgDn"}, check: shows("s here: ")},
	"g":     {keys: []string{"G"}, check: shows("1 call here: >= 158ms @ ,50ms")},
	"G":     {check: shows("0 calls here: < 4")},
}

// callsOf shows the calls of a program that serves 100 requests.
func callsOf(t testing.TB) *bench {
	b := newBench(t, Options{Path: "served.cpprof", Recording: synthetic.Served(100, "")})
	b.line(":calls")
	return b
}

// The window shows how long the calls took, and why the slow
// ones did. The time in the calls of a rectangle counts in every
// window.
func TestCalls(t *testing.T) {
	b := callsOf(t)
	b.shows("main.send: 100 calls  p50 30 to 50ms  p99 150 to 170ms  longest 150 to 170ms", "Slow: 20 calls, >= p99.",
		"75 % of their time, of the others' 0 %: waits for a lock taken in main.lock,", "which go:main.hold holds", "▄")
	b.keys("Space", "G", "k", "k", "k", "k", "k", "k", "k", "k")
	b.shows("20 calls in the rectangle: >= ")
	b.keys("Enter")
	b.shows("⊂ main.send >= ", ": 20 calls")
	b.keys("1")
	b.shows("go:main.send")
	b.keys("2", "a")
	b.hides("⊂")
	b.line(":calls main.nobody")
	b.shows(`no sample has the function "main.nobody"`)
}

// The mouse draws a rectangle.
func TestCallsByMouse(t *testing.T) {
	b := callsOf(t)
	x, y := b.find("│")
	b.mouse(x+1, y, tcell.ButtonPrimary)
	b.mouse(x+69, y+1, tcell.ButtonPrimary)
	b.mouse(x+69, y+1, tcell.ButtonNone)
	b.shows("20 calls in the rectangle: >= ")
}

// A name of the program is never a control sequence; calls of a
// program without requests are none.
func TestCallsHostile(t *testing.T) {
	b := newBench(t, Options{Path: "served.cpprof", Recording: synthetic.Served(100, "[red]\x1b[1m\u202e")})
	b.line(":calls")
	b.shows("main.send[red]", ": 100 calls")
	b = bobThread(t)
	b.line(":calls")
	b.shows("no function stands out")
}

// A session keeps the calls that count, the time that is shown,
// and an open goroutine with its holders.
func TestCallsAndTracksAreKept(t *testing.T) {
	b := callsOf(t)
	b.keys("+", "Enter")
	b.shows("⊂ main.send >= ")
	testKept(t, b)
	b = tracksOf(t)
	b.keys("Enter", "+", "l", "l", "l")
	b.shows("and the holders of what it waits for")
	testKept(t, b)
}
