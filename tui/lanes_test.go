package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// withSeries is a recording of ten seconds: a counter that grows
// faster and faster, a level with a gap, a word, a series
// without values, and more levels.
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
	r := fixture.Must(sampledata.ReadText(strings.NewReader(text.String())))(t)
	return Options{Path: "series.cpprof", Recording: r}
}

// While the timeline has the keys, lanes are below it, in the
// same columns, with the statistics of the selected span.
func TestLanes(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.hides("process.cpu")
	b.line(":lanes process.cpu, process.resident, gc.phase")
	b.keys("Home")
	b.shows(
		"›rate(process.cpu): 0/s to 190.00 ms/s; undefined here  n 10, mean 100.00 ms/s\n",
		" process.resident: 1.0 MiB to 11.0 MiB; 1.0 MiB here         n 9, mean 6.3 MiB\n",
		" gc.phase: off, mark; off here                                            n 11\n",
		" ▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂               ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇████\n",
		" ooooooooooooooooooooooooooooooooooommmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmoooo\n",
	)
	b.keys("G")
	b.shows("190.00 ms/s here", "11.0 MiB here")
	b.keys("Space", "H", "H", "H")
	b.shows("n 4, mean 9.5 MiB")
	b.keys("Enter")
	b.hides("process.cpu")
	newBench(t, bob(t)).keys("t")
}

// The usual lanes come first; others are added, moved and removed.
func TestChooseLanes(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.resize(80, 40)
	b.keys("t")
	b.shows("›cpu.used: ", " gc.running: ")
	b.line("+process.resident")
	b.shows(" cpu.used: ", "›process.resident: ")
	b.keys("K")
	if text := b.text(); strings.Index(text, "process.resident: ") > strings.Index(text, "cpu.used: ") {
		t.Errorf("it is not above cpu.used:\n%s", text)
	}
	b.keys("-")
	b.hides("process.resident: ")
	b.line("+tiem")
	b.shows("tiem: there is no monitor or metric")
	b.line(":lanes usual")
	b.hides("tiem")
}

// The timeline zooms into a span, and the lanes with it.
func TestZoom(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.line(":lanes gc.phase")
	b.keys("L", "L", "Space", "L", "L", "z", "Esc")
	b.shows("2.56s to 5.25s, up to 1.0 goroutines")
	b.keys("t")
	b.shows(" oooooooooooooooooooooooooooooooooooooooooooooooooooooo")
	b.keys("Z", "Esc")
	b.shows("10s, up to 1.0 goroutines")
}
