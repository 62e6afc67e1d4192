package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// withSeries is the text of a recording of ten seconds: a counter that grows faster and faster, a level with a gap, a
// word, a series without values, and more levels.
func withSeries(t testing.TB, more int) Options {
	t.Helper()
	text := &strings.Builder{}
	text.WriteString(`cpprof recording 1
function f0 main.main
node n0 f0
goroutine g0 1 start=f0
monitor m0 process.cpu counter layer=kernel unit=ns
monitor m1 process.resident level layer=kernel unit=bytes
monitor m2 gc.phase nominal layer=runtime
monitor m3 instructions counter layer=hardware unmeasured="no PMU"
`)
	for i := range more {
		fmt.Fprintf(text, "monitor m%d main.queue%d level\n", 4+i, i)
	}
	for s := range 11 {
		fmt.Fprintf(text, "sample %ds\n", s)
		if s == 0 {
			text.WriteString("g0 running n0\n")
		}
		fmt.Fprintf(text, "m0 value=%d\n", s*s*int(10*time.Millisecond))
		if s == 3 || s == 4 {
			text.WriteString("m1 unmeasured\n")
		} else {
			fmt.Fprintf(text, "m1 value=%d\n", (1+s)<<20)
		}
		fmt.Fprintf(text, "m2 value=%s\n", []string{"off", "mark"}[s/5%2])
		for i := range more {
			fmt.Fprintf(text, "m%d value=7\n", 4+i)
		}
	}
	r, err := sampledata.ReadText(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return Options{Path: "series.cpprof", Recording: r}
}

// While the timeline has the keys, the series are below it, in the same columns.
func TestLanes(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.hides("process.cpu")
	b.keys("t", "Home")
	b.shows(
		"process.cpu: 0 to 190.00 ms a second; 10.00 ms here",
		"process.resident: 1.0 MiB to 10.0 MiB; 1.0 MiB here",
		"gc.phase: off, mark; off here",
		"oooooooooommmmmmm",
	)
	b.hides("instructions", "j k")
	b.keys("G")
	b.shows("190.00 ms here", "mark here")
	b.shows(
		" ▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████",
		" ▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃              ▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇████████",
	)
	b.keys("Esc")
	b.hides("process.cpu")
	newBench(t, bob(t)).keys("t")
}

// Lanes leave room for the table of classes. j and k scroll to those that don't fit.
func TestLanesThatDoNotFit(t *testing.T) {
	b := newBench(t, withSeries(t, 6))
	b.keys("t")
	b.shows("process.cpu", "gc.phase", "1 to 3 of 9 series: j k", "go:main.main")
	b.hides("main.queue0")
	b.keys("j", "Down")
	b.hides("process.cpu", "process.resident")
	b.shows("gc.phase", "main.queue1: 7 to 7; 7 here", "3 to 5 of 9 series")
	b.keys("j", "j", "j", "j", "j", "j", "j")
	b.shows("main.queue5", "7 to 9 of 9 series")
	b.keys("k")
	b.shows("6 to 8 of 9 series")
	b.resize(80, 12)
	b.hides("process.cpu", "main.queue")
	b.shows("go:main.main")
	b.resize(80, 60)
	b.shows("process.cpu", "main.queue5")
}
