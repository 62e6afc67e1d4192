package report

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// A goroutine waits for a place in a channel that another one
// has, and one for a connection that another one may have.
const sharedText = `cpprof recording 1
function f0 main.send
function f1 main.work
function f2 database/sql.(*DB).conn
node n0 f0
node n1 f1
node n2 f2 under=n0
goroutine g0 1 start=f0
goroutine g1 2 start=f1
goroutine g2 3 start=f0
holders h1 g1
sample 10ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h1 evidence=likely
	g2 waiting n2 reason=select lock=0x20 holders=h1 evidence=ambiguous
	g1 running n1
sample 20ms
	g2 running n0
end duration time=30ms
`

func TestSharedThings(t *testing.T) {
	r := fixture.Must(sampledata.ReadText(strings.NewReader(sharedText)))(t)
	a := fixture.Must(locks.Analyse(r, views.Options{}, locks.ByField))(t)
	b := new(strings.Builder)
	(&Locks{Recording: r, Analysis: a, Top: 1}).Write(b)
	const want = `no goroutine was seen waiting for a lock of package sync

3 hits of waiting for channels used as locks, semaphores, pools or sockets; who has them: 66.7 %
likely, 33.3 % ambiguous

  waited  mean  hits   likely  what
20.00 ms  1.00     2  100.0 %  channel in main.send

1 more (--top 0 shows all)

channel in main.send at 0x10
  waiting
          2  go:main.send in main.send (chan send): 50.0 % of its time at work
  held by (100.0 % likely)
          2  go:main.work in main.work
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	(&Locks{Recording: r, Analysis: a, Top: 0}).Write(b)
	if want := "  held by (100.0 % ambiguous)\n  may be held by\n          1  go:main.work in main.work\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%q is not in\n%s", want, b)
	}
	b.Reset()
	fixture.Check(t, (&Locks{Recording: r, Analysis: a}).WriteJSON(b))
	for _, want := range []string{`"lock": "channel in main.send"`, `"may_hold": [`, `"function": "main.work"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in\n%s", want, b)
		}
	}

	n := views.Named{Name: "a", Recording: r}
	c := fixture.Must(locks.Compare(n, n, views.Options{}))(t)
	b.Reset()
	(&LocksCompared{Comparison: c, New: n, Old: n}).Write(b)
	for _, want := range []string{
		"    1.00  1.00    0.00          -    -  channel in main.send\n",
		"  held, old: 100.0 % ambiguous\n  held, new: 100.0 % ambiguous\n  may be held by\n             0.50   0.50    0.00  go:main.work in main.work\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b)
		}
	}
}
