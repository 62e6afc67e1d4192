package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// summary returns the bench's first window.
func (b *bench) summary() *summaryWindow { return b.windows[0].(*summaryWindow) }

func TestSummaryShowsWhatWasRecorded(t *testing.T) {
	b := newBench(t, bob(t))
	b.shows(
		" bob.cpprof: 30 samples of bob in 1.5 s (19.7 a second); it was halted 0.79 %\n of the time\n",
		" warning: goroutine 20: the stack does not reach its outermost frame\n",
		"\n █ RUN █ LOAD █ PRIO █ MONITOR █ WAIT                1.5s, up to 7.0 goroutines\n",
		"\n  count alive▼ time          RUN  LOAD  PRIO  MON  WAIT class\n",
		"\n      5    5.0 ████████████   13     0     0   80     7 go:bob.(*terminal).run\n",
		"\n      1    1.0 ████████████    0     0     0    0   100 go:main.main\n",
		"\n go:bob.(*terminal).run: 5 goroutines, 150 hits, 5.0 alive on average\n of its MONITOR time 100.0 % is attributed to holders of the locks\n",
	)
}

// The bar has 13 % RUN, 80 % MONITOR and 7 % WAIT in twelve
// cells; without colours the cells are letters.
func TestSummaryBars(t *testing.T) {
	o := bob(t)
	o.NoColor = true
	b := newBench(t, o)
	b.shows("\n R RUN L LOAD P PRIO M MONITOR W WAIT ", " 5.0 RMMMMMMMMMMW   13 ")

	b = newBench(t, bob(t))
	x, y := b.find("████████████   13")
	want := []int{0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4}
	for i, typed := range want {
		if got := b.colorAt(x+i, y); got != foreground(b.theme.typed[typed]) {
			t.Errorf("cell %d of the bar has not the colour of %s", i, views.TypedTime(typed))
		}
	}
}

func foreground(s tcell.Style) tcell.Color {
	c, _, _ := s.Decompose()
	return c
}

// colorAt returns the colour of the text in a cell.
func (b *bench) colorAt(x, y int) (c tcell.Color) {
	b.t.Helper()
	b.do(func() {
		cells, width, _ := b.sim.GetContents()
		c = foreground(cells[y*width+x].Style)
	})
	return c
}

func TestSummaryOpensViews(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("j", "Enter")
	b.shows(" 2 go:main.main", "Thread View of go:main.main")
	b.keys("1", "s")
	b.shows(" 3 Server")
	b.keys("1")
	b.click("go:bob.(*terminal).run")
	b.click("go:bob.(*terminal).run") // the second time: a double click
	b.shows(" 4 go:bob.(*terminal).run")
}

// manyClasses is a recording of one goroutine in each of many
// classes. Some names contain text that a terminal could
// interpret. Each goroutine is alive in one sample less than the
// one before it.
func manyClasses(t testing.TB, n int) Options {
	t.Helper()
	b := sampledata.NewBuilder(synthetic.Header())
	for i := range n {
		name := fmt.Sprintf("example.com/a/rather/long/path/pkg%02d.(*Server).[red]work\x1b[1m", i)
		f := b.Function(sampledata.Function{Name: name})
		node := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f})
		g := b.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: f})
		change := sampledata.Change{Goroutine: g, State: sampledata.State{Stack: node, Run: sampledata.Waiting, Reason: "select"}}
		b.Measure(b.Monitor(sampledata.Monitor{Name: fmt.Sprintf("main.queue%d", i%9), Kind: sampledata.Level}), sampledata.Number(int64(i)))
		if err := b.Sample(sampledata.Sample{Time: time.Duration(i+1) * time.Millisecond, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}},
			[]sampledata.Change{change}); err != nil {
			t.Fatal(err)
		}
	}
	fixture.Check(t, b.Finish(sampledata.End{Time: time.Second}))
	return Options{Path: "many.cpprof", Recording: b.Recording()}
}

// On every screen size, every class can be reached, and can be
// read in full.
func TestSummaryLosesNothing(t *testing.T) {
	o := manyClasses(t, 40)
	for _, size := range [][2]int{{80, 24}, {40, 16}, {200, 60}} {
		b := newBench(t, o)
		b.resize(size[0], size[1])
		for i := range 40 {
			name := fmt.Sprintf(`go:example.com/a/rather/long/path/pkg%02d.(*Server).[red]work\x1b[1m:`, i)
			if text := strings.ReplaceAll(b.text(), "\n", ""); !strings.Contains(strings.ReplaceAll(text, " ", ""), name) {
				t.Fatalf("at %v, class %d can't be read:\n%s", size, i, b.text())
			}
			b.keys("j")
		}
	}
}

func TestSummaryCutsNamesInTheMiddle(t *testing.T) {
	b := newBench(t, manyClasses(t, 3))
	b.resize(96, 24)
	b.shows(" go:…/pkg00.(*Server).[red]work")
}

// In every order, the same class stays selected.
func TestSummaryOrders(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("j")
	names := func() (names []string) {
		for line := range strings.SplitSeq(b.text(), "\n") {
			if i := strings.Index(line, " go:"); i > 10 && !strings.Contains(line, "goroutine") {
				names = append(names, strings.TrimPrefix(line[i+1:], "go:"))
			}
		}
		return names
	}
	order := func(want ...string) {
		t.Helper()
		if got := names(); !slices.Equal(got, want) {
			t.Errorf("%v: want %v\n%s", got, want, b.text())
		}
		b.shows("\n go:main.main: 1 goroutine,")
	}
	order("bob.(*terminal).run", "main.main", "runtime.gcBgMarkWork…")
	b.keys("r")
	b.shows(" alive▲")
	order("runtime.gcBgMarkWork…", "main.main", "bob.(*terminal).run")
	b.keys("O", "O")
	b.shows(" class▲")
	order("bob.(*terminal).run", "main.main", "runtime.gcBgMarkWork…")
	b.click("class▲")
	b.shows(" class▼")
	order("runtime.gcBgMarkWork…", "main.main", "bob.(*terminal).run")
	b.click("  MON ")
	b.shows(" MON▼")
	order("bob.(*terminal).run", "main.main", "runtime.gcBgMarkWork…")
	b.keys("o")
	b.shows(" WAIT▼")
	order("main.main", "runtime.gcBgMarkWork…", "bob.(*terminal).run")
	for range len(classColumns) - 1 { // there is no room for that of idle time
		b.keys("o")
	}
	b.shows(" WAIT▼")
}

func TestSummarySearches(t *testing.T) {
	b := newBench(t, manyClasses(t, 40))
	b.keys("/")
	b.line("PKG3")
	b.shows("\n go:example.com/a/rather/long/path/pkg30.")
	b.keys("n")
	b.shows("\n go:example.com/a/rather/long/path/pkg31.")
	b.keys("N", "N")
	b.shows("\n go:example.com/a/rather/long/path/pkg39.")
	b.keys("g")
	b.shows("\n go:example.com/a/rather/long/path/pkg00.")
	b.keys("G", "PgUp", "PgDn")
	b.shows("\n go:example.com/a/rather/long/path/pkg39.")
	b.keys("/")
	b.line("moon")
	b.shows(`No class has "moon" in its name.`)
}

func TestSummaryInfo(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys("i")
	b.shows("GOMAXPROCS 2", "used 1.97 % of a core", "warning: goroutine 20")
	b.keys("Esc")
	b.hides("GOMAXPROCS")
	b.resize(80, 8)
	b.keys("i")
	b.shows("▼ more")
	b.hides("warning: goroutine 20")
	b.keys("PgDn", "PgDn", "PgDn")
	b.shows("warning: goroutine 20", "% torn")
	b.clickAt(3, 3)
	b.hides("% torn")
}

// The summary says that a recording is incomplete.
func TestSummaryOfATornRecording(t *testing.T) {
	o := bob(t)
	o.Recording.End = nil
	newBench(t, o).shows(" the recording is incomplete; warning: goroutine 20")
}

// Esc during the summing of the classes leaves the table unchanged.
func TestSummaryIsCancelled(t *testing.T) {
	b := newBench(t, bob(t))
	b.do(func() {
		b.summary().refresh()
		b.app.key(tcell.NewEventKey(tcell.KeyEsc, 0, tcell.ModNone))
	})
	b.waitForJobs()
	b.shows("Summing up the classes: cancelled.", "go:bob.(*terminal).run: 5 goroutines")
}

// summaryKeys has a test for every binding of the summary, by
// its first key. It shows 40 classes; the second one is
// selected.
var summaryKeys = map[string]keyTest{
	"Enter":  {check: shows("Thread View of go:", "pkg01")},
	"s":      {check: shows("Server View")},
	"t":      {check: shows("Space Begin")},
	"Esc":    {keys: []string{"t", "Space", "L", "Enter"}, check: hides("counts")},
	"o":      {check: shows(" time▼")},
	"O":      {check: shows(" count▼")},
	"r":      {check: shows(" alive▲")},
	"w":      {check: shows("goroutines\n")},
	"H":      {check: shows("hardly anything but wait for work are hidden")},
	"f":      {check: shows("\nfilter:")},
	"Space":  {check: shows("◆")},
	"M":      {keys: []string{"Space", "Space"}, check: shows("\nmerge 2 into class:")},
	"i":      {check: shows("GOMAXPROCS")},
	"/":      {check: shows("\n/")},
	"n":      {keys: []string{"/", "2", "0", "Enter", "g"}, check: picks(20)},
	"N":      {keys: []string{"/", "2", "0", "Enter", "G"}, check: picks(20)},
	"j":      {check: picks(2)},
	"k":      {check: picks(0)},
	"PgDn":   {keys: []string{"g"}, check: picks(9)},
	"PgUp":   {check: picks(0)},
	"Ctrl-D": {keys: []string{"g"}, check: picks(5)},
	"Ctrl-U": {check: picks(0)},
	"g":      {keys: []string{"G"}, check: picks(0)},
	"G":      {check: picks(39)},
}

// A profile has no typed times: its classes have weights, which
// can be 0, and none waits for work.
func TestSummaryOfAProfile(t *testing.T) {
	in, err := interchange.Stream(strings.NewReader("main.serve;main.render 30\nmain.idle;main.wait 0\nruntime.mcall;runtime.park_m 10\n"), "stacks.folded", interchange.Auto)
	fixture.Check(t, err)
	r := fixture.Must(in.Recording(interchange.Options{}))(t)
	b := newBench(t, Options{Path: "stacks.folded", Recording: r})
	b.shows("timeline: a profile has no times", "share▼", "75.0 %", "go:main.serve", "25.0 %", "go:runtime.mcall", " 0.0 %", "go:main.idle")
	b.hides("RUN", "alive", "hidden")
	b.keys("W")
	b.shows("There are no samples over time")
}
