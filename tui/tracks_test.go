package tui

import (
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
)

// tracksKeys has a test for every binding of a window of tracks,
// by its first key. It shows 100 goroutines; the second one is
// selected.
var tracksKeys = map[string]keyTest{
	"Enter":     {check: shows("Goroutine 3, of go:main.send, and the holders of what it waits for")},
	"Backspace": {check: shows("Thread classes", "go:main.hold (1)")},
	"l":         {check: shows("is not there")},
	"h":         {keys: []string{"l", "l"}, check: shows("is not there")},
	"+":         {check: shows("1.71s")},
	"-":         {keys: []string{"+"}, check: shows("3.41s")},
	"0":         {keys: []string{"+"}, check: shows("3.41s")},
	"/":         {check: shows("\n/")},
	"n":         {keys: []string{"/", "7", "7", "Enter", "g"}, check: picks(75)},
	"N":         {keys: []string{"/", "7", "7", "Enter", "g"}, check: picks(75)},
	"j":         {check: picks(2)},
	"k":         {check: picks(0)},
	"PgDn":      {check: picks(17)},
	"PgUp":      {keys: []string{"PgDn"}, check: picks(1)},
	"Ctrl-D":    {check: picks(9)},
	"Ctrl-U":    {keys: []string{"Ctrl-D"}, check: picks(1)},
	"g":         {keys: []string{"G"}, check: picks(0)},
	"G":         {check: picks(99)},
}

// tracksOf shows the goroutines of a program that serves 100 requests.
func tracksOf(t testing.TB) *bench {
	b := newBench(t, Options{Path: "served.cpprof", Recording: synthetic.Served(100, "")})
	b.line(":tracks go:main.send")
	b.keys("j")
	return b
}

// From the classes to a goroutine, and to who held what it waited for.
func TestTracks(t *testing.T) {
	b := newBench(t, Options{Path: "served.cpprof", Recording: synthetic.Served(100, "")})
	b.line(":tracks")
	b.shows("Thread classes", "go:main.send (100)", "go:main.hold (1)", "3.41s", "▲")
	for range 10 {
		b.keys("l")
	}
	b.shows("658ms: RUN 100 %: Enter opens the class")
	for range 10 {
		b.keys("h")
	}
	b.keys("Enter", "k", "Enter", "0", "+", "+", "+", "+")
	b.shows("Goroutine 2, of go:main.send", "holder 1", "█")
	for range 30 {
		b.keys("l")
	}
	b.shows("goroutine 2 waits for a lock, for 120ms; goroutine 1, of go:main.hold,", "holds it and sleeps", "main.lock", "main.handle")
	b.keys("u", "u")
	b.shows("Thread classes")
	b.line(":tracks go:nobody")
	b.shows(`the recording has no thread class "go:nobody"`)
}

// While a window of calls is open, the calls of the selected
// goroutine are brackets.
func TestCallsInTracks(t *testing.T) {
	b := tracksOf(t)
	b.hides("├", "│")
	b.line(":calls main.handle")
	b.line(":tracks go:main.send")
	b.keys("j", "+", "+", "+", "+")
	b.shows("main.handle", "├─", "─┤")
}
