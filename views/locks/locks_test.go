package locks

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// read reads a recording in its text form, without the first line.
func read(t testing.TB, text string) *sampledata.Recording {
	t.Helper()
	r := fixture.Must(sampledata.ReadText(strings.NewReader("cpprof recording 1\n" + text)))(t)
	fixture.Check(t, r.Check())
	return r
}

func analyse(t interface {
	Helper()
	Fatal(...any)
}, r *sampledata.Recording, o views.Options) *Analysis {
	t.Helper()
	return fixture.Must(Analyse(r, o, ByInstance))(t)
}

// say prints an analysis in short lines.
func say(a *Analysis) string {
	b := new(strings.Builder)
	for _, l := range a.Locks {
		fmt.Fprintf(b, "%s %#x %s: %s", l, l.Address, l.Kind, l.Hits.RatString())
		for _, part := range []struct {
			name string
			calltree.Total
		}{{"recorded", l.Recorded}, {"inferred", l.Inferred}, {"likely", l.Likely}, {"ambiguous", l.Ambiguous},
			{"free", l.Free}, {"woken", l.Woken}, {"none", l.None}} {
			if part.Hits.Sign() != 0 {
				fmt.Fprintf(b, " %s=%s", part.name, part.Hits.RatString())
			}
		}
		fmt.Fprintln(b)
		for _, w := range l.Waiters {
			fmt.Fprintf(b, "  waits %s %s %s in %s\n", w.Hits.RatString(), w.Class, w.Reason, w.In)
		}
		for _, h := range l.Holders {
			fmt.Fprintf(b, "  holds %s %s\n", h.Hits.RatString(), h.Class)
		}
		for _, c := range l.Chains {
			fmt.Fprintf(b, "  chain %s\n", sayChain(c))
		}
	}
	for _, d := range a.Deadlocks {
		fmt.Fprintf(b, "deadlock in %d samples, %d-%d:\n", d.Samples, d.First, d.Last)
		for _, m := range d.Members {
			fmt.Fprintf(b, "  %d %s waits for %s\n", m.Goroutine, m.Class, m.Lock)
			for _, f := range m.Stack {
				fmt.Fprintf(b, "    %s:%d\n", f.Function, f.Line)
			}
		}
	}
	return b.String()
}

func sayChain(c *Chain) string {
	s := c.Hits.RatString() + ":"
	for _, l := range c.Links {
		s += fmt.Sprintf(" %s -> %s ->", l.Class, l.Lock)
	}
	return s + " " + c.Class + " (" + c.End.String() + ")"
}

// cast is the beginning of most tests' recordings: main.a,
// main.b and main.c take locks with package sync, each in its
// own class of goroutines.
const cast = `
function f0 main.a line=10
function f1 main.b line=20
function f2 main.c line=30
function f3 sync.(*Mutex).Lock
function f4 main.work
node n0 f0 line=11
node n1 f3 under=n0 inlined
node n2 f1 line=21
node n3 f3 under=n2 inlined
node n4 f2 line=31
node n5 f4 under=n4 line=5
node n6 f4 under=n2 line=5
goroutine g0 1 start=f0
goroutine g1 2 start=f1
goroutine g2 3 start=f2
goroutine g3 4 start=f0
holders h1 g1
holders h2 g2
holders h3 g0
holders h4 g1 g2
`

// analyses are recordings, with the results of Analyse.
var analyses = []struct{ name, text, want string }{
	{"nothing", "", ""},
	{"no evidence, no address, no name", `
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock
	g1 blocked n3 reason=sync.Mutex.Lock
	g3 blocked - reason=sync.Mutex.Lock
sample 2ms
	g1 running n6
`, `a lock taken in main.a 0x0 sync.Mutex: 2 none=2
  waits 2 go:main.a sync.Mutex.Lock in main.a
unknown lock 0x0 sync.Mutex: 2 none=2
  waits 2 go:main.a sync.Mutex.Lock in 
a lock taken in main.b 0x0 sync.Mutex: 1 none=1
  waits 1 go:main.b sync.Mutex.Lock in main.b
`},
	{"all kinds of evidence", `
lock 0x10 main.mu
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=inferred
	g1 running n6
	g2 running n5
sample 2ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h2 evidence=recorded
sample 3ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h4 evidence=ambiguous
sample 4ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10
`, `main.mu 0x10 sync.Mutex: 4 recorded=1 inferred=1 ambiguous=1 none=1
  waits 4 go:main.a sync.Mutex.Lock in main.a
  holds 1 go:main.b
  holds 1 go:main.c
`},
	{"nobody holds a free lock, whoever was woken for it", `
lock 0x10 main.mu
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=free
	g1 runnable n3
sample 2ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 evidence=free
`, `main.mu 0x10 sync.Mutex: 2 free=2 woken=1
  waits 2 go:main.a sync.Mutex.Lock in main.a
`},
	{"a likely holder is blamed, but makes no deadlock", `
lock 0x10 main.mu
lock 0x20 main.other
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=likely
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=inferred
`, `main.mu 0x10 sync.Mutex: 1 likely=1
  waits 1 go:main.a sync.Mutex.Lock in main.a
  holds 1 go:main.b
  chain 1: go:main.a -> main.mu -> go:main.b -> main.other -> go:main.a (circle)
main.other 0x20 sync.Mutex: 1 inferred=1
  waits 1 go:main.b sync.Mutex.Lock in main.b
  holds 1 go:main.a
  chain 1: go:main.b -> main.other -> go:main.a -> main.mu -> go:main.b (circle)
`},
	{"readers share a hit, and a holder that is gone does not count", `
sample 1ms
	g0 blocked n1 reason=sync.RWMutex.Lock lock=0x10 holders=h4 evidence=inferred
	g1 running n6
	g2 running n5
sample 2ms
	g2 gone
`, `a lock taken in main.a 0x10 sync.RWMutex: 2 inferred=3/2 none=1/2
  waits 2 go:main.a sync.RWMutex.Lock in main.a
  holds 1 go:main.b
  holds 1/2 go:main.c
`},
	{"an address that is used again, and instances", `
lock 0x10 main.(*cache).mu
lock 0x20 main.(*cache).mu
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x20
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x10
lock 0x10 main.(*queue).mu from=1
sample 2ms
	g0 running n0
	g1 running n2
sample 3ms
	g0 blocked n1 reason=sync.RWMutex.Lock lock=0x10
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x10
end duration time=4ms
`, `main.(*queue).mu 0x10 sync.RWMutex: 2 none=2
  waits 1 go:main.a sync.RWMutex.Lock in main.a
  waits 1 go:main.b sync.Mutex.Lock in main.b
main.(*cache).mu of instance 1 0x20 sync.Mutex: 1 none=1
  waits 1 go:main.a sync.Mutex.Lock in main.a
main.(*cache).mu of instance 2 0x10 sync.Mutex: 1 none=1
  waits 1 go:main.b sync.Mutex.Lock in main.b
`},
	{"chains", `
lock 0x10 main.one
lock 0x20 main.two
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=inferred
	g3 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=inferred
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h2 evidence=inferred
	g2 running n5
sample 2ms
	g3 running n0
sample 3ms
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20
sample 4ms
	g1 running n2
`, `main.one 0x10 sync.Mutex: 5 inferred=5
  waits 5 go:main.a sync.Mutex.Lock in main.a
  holds 5 go:main.b
  chain 3: go:main.a -> main.one -> go:main.b -> main.two -> go:main.c (goes on)
  chain 1: go:main.a -> main.one -> go:main.b -> main.two ->  (unknown holder)
main.two 0x20 sync.Mutex: 3 inferred=2 none=1
  waits 3 go:main.b sync.Mutex.Lock in main.b
  holds 2 go:main.c
`},
	{"a deadlock begins, and lasts while another goroutine waits for it", `
lock 0x10 main.one
lock 0x20 main.two
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=inferred
	g1 running n6
sample 2ms
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=inferred
	g3 blocked n1 reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=inferred
sample 3ms
`, `main.two 0x20 sync.Mutex: 4 inferred=4
  waits 2 go:main.a sync.Mutex.Lock in main.a
  waits 2 go:main.b sync.Mutex.Lock in main.b
  holds 4 go:main.a
  chain 2: go:main.a -> main.two -> go:main.a -> main.one -> go:main.b -> main.two -> go:main.a (deadlock)
  chain 2: go:main.b -> main.two -> go:main.a -> main.one -> go:main.b (deadlock)
main.one 0x10 sync.Mutex: 3 inferred=3
  waits 3 go:main.a sync.Mutex.Lock in main.a
  holds 3 go:main.b
  chain 2: go:main.a -> main.one -> go:main.b -> main.two -> go:main.a (deadlock)
deadlock in 2 samples, 1-2:
  1 go:main.a waits for main.one
    sync.(*Mutex).Lock:0
    main.a:11
  2 go:main.b waits for main.two
    sync.(*Mutex).Lock:0
    main.b:21
`},
	{"a goroutine waits for a lock that it holds", `
sample 1ms
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=inferred
sample 2ms
`, `a lock taken in main.b 0x10 sync.Mutex: 2 inferred=2
  waits 2 go:main.b sync.Mutex.Lock in main.b
  holds 2 go:main.b
deadlock in 2 samples, 0-1:
  2 go:main.b waits for a lock taken in main.b
    sync.(*Mutex).Lock:0
    main.b:21
`},
	{"candidates are not blamed, and waits for other things are ignored", `
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=ambiguous
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=ambiguous
	g2 waiting n5 reason="chan send" holders=h3 evidence=ambiguous
	g3 waiting n0 reason=sync.WaitGroup.Wait holders=h2 evidence=ambiguous
`, `a lock taken in main.a 0x10 sync.Mutex: 1 ambiguous=1
  waits 1 go:main.a sync.Mutex.Lock in main.a
a lock taken in main.b 0x20 sync.Mutex: 1 ambiguous=1
  waits 1 go:main.b sync.Mutex.Lock in main.b
`},
}

func TestAnalyse(t *testing.T) {
	chain := regexp.MustCompile(`(?m)^  chain .*\n`)
	for _, test := range analyses {
		t.Run(test.name, func(t *testing.T) {
			r := read(t, cast+test.text)
			if got := say(analyse(t, r, views.Options{})); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			holders := fixture.Must(AnalyseHolders(r, views.Options{}, ByInstance))(t)
			if got, want := say(holders), chain.ReplaceAllString(test.want, ""); got != want {
				t.Errorf("of holders: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// inCircle is a sample in which main.a and main.b wait for one another.
const inCircle = `
sample 1ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10 holders=h1 evidence=inferred
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=inferred
	g3 blocked n1 reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=inferred
`

// What moves again was no deadlock, nor is a circle of which a
// lock was released.
func TestDeadlock(t *testing.T) {
	for _, c := range []struct {
		name, then string
		samples    int // that the deadlock was seen in, 0 if there is none
	}{
		{"it is all that there is", "", 1},
		{"it is new", "\tg2 running n5\nsample 2ms\n\tg0 blocked n1 reason=sync.Mutex.Lock lock=0x11 holders=h1 evidence=inferred\n", 0},
		{"it stays", "sample 2ms\nsample 3ms\n", 3},
		{"a goroutine moves", "sample 2ms\nsample 3ms\n\tg1 running n2\n", 0},
		{"a goroutine waits for another lock", "sample 2ms\n\tg1 blocked n3 reason=sync.Mutex.Lock lock=0x30 holders=h3 evidence=inferred\nsample 3ms\n", 0},
		{"a goroutine ends", "sample 2ms\nsample 3ms\n\tg1 gone\n", 0},
		{"a goroutine moved, and the circle is back", "sample 2ms\n\tg1 running n2\n" + strings.ReplaceAll(inCircle, "1ms", "3ms") + "sample 4ms\n", 0},
		{"another goroutine got a lock", "sample 2ms\n\tg3 running n0\nsample 3ms\n", 0},
		{"another goroutine came and waits", "sample 2ms\n\tg2 blocked n5 reason=sync.Mutex.Lock lock=0x20\nsample 3ms\n", 3},
		{"a lock was free", "sample 2ms\n\tg1 blocked n3 reason=sync.Mutex.Lock lock=0x20 evidence=free\nsample 3ms\n", 0},
		{"another holder was named", "sample 2ms\n\tg1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h2 evidence=inferred\nsample 3ms\n", 0},
		{"a sample names only candidates", "sample 2ms\n\tg1 blocked n3 reason=sync.Mutex.Lock lock=0x20 holders=h4 evidence=ambiguous\nsample 3ms\n", 3},
		{"a sample has no stack", "sample 2ms\n\tg1 blocked - reason=sync.Mutex.Lock lock=0x20 holders=h3 evidence=inferred\nsample 3ms\n", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, cast+inCircle+c.then)
			a := analyse(t, r, views.Options{})
			claims := strings.Count(say(a), "(deadlock)")
			if (len(a.Deadlocks) > 0) != (c.samples > 0) || (claims > 0) != (c.samples > 0) || len(a.Deadlocks) > 0 && a.Deadlocks[0].Samples != c.samples {
				t.Errorf("a deadlock in %d samples is wanted, got\n%s", c.samples, say(a))
			}
		})
	}
}

// Every span of a recording has the names and numbers of the
// whole recording.
func TestSpan(t *testing.T) {
	r := read(t, cast+`
lock 0x10 main.(*cache).mu
lock 0x20 main.(*cache).mu
sample 10ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x10
sample 20ms
	g0 blocked n1 reason=sync.Mutex.Lock lock=0x20
sample 30ms
	g1 blocked n3 reason=sync.Mutex.Lock lock=0x20
sample 40ms
end duration time=50ms
`)
	a := analyse(t, r, views.Options{Span: views.Span{From: 20_000_000, To: 40_000_000}})
	want := "main.(*cache).mu of instance 2 0x20 sync.Mutex: 3 none=3\n" +
		"  waits 2 go:main.a sync.Mutex.Lock in main.a\n  waits 1 go:main.b sync.Mutex.Lock in main.b\n"
	if got := say(a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if mean := a.Mean(&a.Evidence).RatString(); mean != "3/2" || a.Evidence.Waited() != 30_000_000 || a.Samples != 2 {
		t.Errorf("%s waited in %d samples, for %v", mean, a.Samples, a.Evidence.Waited())
	}
	if _, err := Analyse(r, views.Options{Span: views.Span{From: 2, To: 1}}, ByInstance); err == nil {
		t.Error("a span that ends before it begins is accepted")
	}
}

// The five terminals of CPPROFJ, section 6.2: Held has the same
// part below a lock as the Thread View has below :MONITOR.
func TestHeldIsWhatTheThreadViewSays(t *testing.T) {
	f := fixture.Must(os.Open("../../cmd/cpprof/testdata/bob.txt"))(t)
	defer f.Close()
	r := fixture.Must(sampledata.ReadText(f))(t)
	a := analyse(t, r, views.Options{})
	want := "a lock taken in bob.(*manager).transact 0xc000012080 sync.Mutex: 120 recorded=120\n" +
		"  waits 120 go:bob.(*terminal).run sync.Mutex.Lock in bob.(*manager).transact\n  holds 120 go:bob.(*terminal).run\n"
	if got := say(a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v := fixture.Must(views.Thread(r, "go:bob.(*terminal).run", views.Options{}))(t)
	if got, want := stacksBelow(a.Held, a.HeldAt(a.Locks[0])), stacksBelow(v, nodeOf(v, ":MONITOR")); !slices.Equal(got, want) {
		t.Errorf("held\n%s\nin the Thread View\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// stacksBelow lists the stacks below a node, with hits.
func stacksBelow(v *views.View, at int32) []string {
	t := v.Tree
	depth := len(t.Frames(at))
	var all []string
	for n := at + 1; n < t.Ends()[at]; n++ {
		all = append(all, fmt.Sprintf("%s %s", t.Main().Cum(n).RatString(), strings.Join(t.Frames(n)[depth:], " ")))
	}
	slices.Sort(all)
	return all
}

func nodeOf(v *views.View, frame string) int32 {
	return int32(slices.Index(v.Tree.Funcs(), v.Tree.Named(frame)))
}
