package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/gdamore/tcell/v2"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// A bench runs an app on a simulated screen, and acts as its
// user: it types, clicks and reads. Before it reads, everything
// that the last key began has ended.
type bench struct {
	*app
	t   testing.TB
	sim tcell.SimulationScreen

	ended chan struct{} // closed when the loop ends
}

// newBench shows a recording on a screen of 80x24 cells.
func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	sim := tcell.NewSimulationScreen("")
	fixture.Check(t, sim.Init())
	sim.SetSize(80, 24)
	if o.Config == nil {
		o.Config = config.Default()
	}
	if o.Threshold == (refine.Threshold{}) {
		o.Threshold.Hits = hits(refine.DefaultMinHits)
	}
	b := &bench{app: newApp(o, newTerminal(sim, nil)), t: t, sim: sim, ended: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(b.ended)
		defer b.terminal.end()
		if err := b.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-b.ended
	})
	b.waitForJobs()
	return b
}

// do runs something in the event loop.
func (b *bench) do(f func()) {
	b.t.Helper()
	done := make(chan struct{})
	b.post(func() {
		f()
		close(done)
	})
	select {
	case <-done:
	case <-time.After(time.Minute):
		b.t.Fatal("the event loop does not respond")
	}
}

// waitForJobs waits until no window has a job.
func (b *bench) waitForJobs() {
	b.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		var busy int
		b.do(func() { busy = len(b.jobs) + b.inBackground })
		if busy == 0 {
			return
		}
		if time.Since(began) > 2*time.Minute {
			b.t.Fatal("a job does not end")
		}
	}
}

// press presses one key, by the name that bindings have for it,
// and does not wait for jobs.
func (b *bench) press(key string) {
	b.t.Helper()
	code, r := tcell.KeyRune, []rune(key)[0]
	if key == "Space" {
		r = ' '
	} else if len([]rune(key)) > 1 {
		code = 0
		for k, name := range tcell.KeyNames {
			if name == key {
				code, r = k, 0
			}
		}
		if code == 0 {
			b.t.Fatalf("there is no key %q", key)
		}
	}
	b.event(tcell.NewEventKey(code, r, tcell.ModNone))
}

// event makes the app handle an event of the terminal.
func (b *bench) event(e tcell.Event) {
	b.t.Helper()
	b.do(func() { b.root.handle(e) })
}

// keys presses several keys in a row.
func (b *bench) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.press(k)
		b.waitForJobs()
	}
}

// line types a text, such as a prompt's key and an answer, and Enter.
func (b *bench) line(text string) {
	b.t.Helper()
	b.typed(text)
	b.keys("Enter")
}

func (b *bench) typed(text string) {
	b.t.Helper()
	for _, r := range text {
		b.press(string(r))
	}
	b.waitForJobs()
}

// mouse moves the mouse to a cell with the given buttons down.
func (b *bench) mouse(x, y int, buttons tcell.ButtonMask) {
	b.t.Helper()
	b.event(tcell.NewEventMouse(x, y, buttons, tcell.ModNone))
	b.waitForJobs()
}

func (b *bench) clickAt(x, y int) {
	b.t.Helper()
	b.mouse(x, y, tcell.ButtonPrimary)
	b.mouse(x, y, tcell.ButtonNone)
}

// click clicks on the first occurrence of a text on the screen.
func (b *bench) click(text string) {
	b.t.Helper()
	x, y := b.find(text)
	b.clickAt(x, y)
}

// find returns the first position of a text on the screen.
func (b *bench) find(text string) (x, y int) {
	b.t.Helper()
	for y, line := range strings.Split(b.text(), "\n") {
		if i := strings.Index(line, text); i >= 0 {
			return textWidth(line[:i]), y
		}
	}
	b.t.Fatalf("the screen has no %q:\n%s", text, b.text())
	return 0, 0
}

// resize changes the size of the screen.
func (b *bench) resize(width, height int) {
	b.t.Helper()
	b.do(func() { b.sim.SetSize(width, height) })
	b.do(func() {})
}

// text returns the screen, one line each, without blanks at the
// ends. The event loop has drawn what was done before.
func (b *bench) text() string {
	b.t.Helper()
	var s strings.Builder
	b.do(func() {
		cells, width, height := b.sim.GetContents()
		for y := range height {
			var line strings.Builder
			for _, c := range cells[y*width : (y+1)*width] {
				line.WriteString(string(c.Runes))
			}
			s.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
	})
	return s.String()
}

// shows checks that the screen has all these texts.
func (b *bench) shows(texts ...string) {
	b.t.Helper()
	screen := b.text()
	for _, want := range texts {
		if !strings.Contains(screen, want) {
			b.t.Errorf("the screen has no %q:\n%s", want, screen)
		}
	}
}

// hides checks that the screen has none of these texts.
func (b *bench) hides(texts ...string) {
	b.t.Helper()
	screen := b.text()
	for _, not := range texts {
		if strings.Contains(screen, not) {
			b.t.Errorf("the screen has %q:\n%s", not, screen)
		}
	}
}

// bob returns the recording of the paper's BOB case.
func bob(t testing.TB) Options {
	t.Helper()
	return Options{Path: "bob.cpprof", Recording: twin(t, "bob")}
}

// threadWindow returns the window of a Thread View, to be opened
// at the start.
func threadWindow(class string) []session.Window {
	return []session.Window{&session.Profile{Class: class, Threshold: refine.Threshold{Hits: hits(refine.DefaultMinHits)}}}
}

// twin returns one of the recordings of the command's tests.
func twin(t testing.TB, name string) *sampledata.Recording {
	t.Helper()
	f := fixture.Must(os.Open(filepath.Join(fixture.Root(), "cmd", "cpprof", "testdata", name+".txt")))(t)
	defer f.Close()
	return fixture.Must(sampledata.ReadText(f))(t)
}

// wheel turns the mouse's wheel by one step.
func (b *bench) wheel(x, y int, button tcell.ButtonMask) {
	b.t.Helper()
	b.mouse(x, y, button)
}

// profileOptions returns the options of an app that opens one
// profile window at the start.
func (b *bench) profileOptions(t testing.TB) Options {
	o := bob(t)
	b.do(func() { o.Windows = []session.Window{b.profile().keep()} })
	return o
}
