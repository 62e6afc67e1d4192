package locks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
)

// sayShared describes what is shared.
func sayShared(a *Analysis) string {
	b := new(strings.Builder)
	for _, l := range a.Shared {
		fmt.Fprintf(b, "%s %s %#x: %s", l, l.Kind, l.Address, l.Hits.RatString())
		for _, p := range l.Parts {
			fmt.Fprintf(b, " instance %d=%s", p.Instance, p.Hits.RatString())
		}
		fmt.Fprintf(b, " likely=%s ambiguous=%s none=%s\n", l.Likely.Hits.RatString(), l.Ambiguous.Hits.RatString(), l.None.Hits.RatString())
		for _, w := range l.Waiters {
			fmt.Fprintf(b, "  waits %s %s %s in %s\n", w.Hits.RatString(), w.Class, w.Reason, w.In)
		}
		for _, h := range l.Holders {
			fmt.Fprintf(b, "  holds %s %s\n", h.Hits.RatString(), h.String())
		}
		for _, h := range l.Candidates {
			fmt.Fprintf(b, "  may hold %s %s\n", h.Hits.RatString(), h.String())
		}
	}
	if more := a.SharedUnread.Hits; more.Sign() > 0 {
		fmt.Fprintf(b, "%s more\n", more.RatString())
	}
	return b.String()
}

// What goroutines wait for that others have in the same way as
// locks: places in channels, parts of semaphores, connections.
var sharings = []struct{ name, text, want, byField string }{
	{"nothing", `
sample 1ms
	g0 waiting n0 reason="chan send"
	g1 waiting n2 reason="chan receive" lock=0x10
	g2 waiting n12 reason=sync.WaitGroup.Wait lock=0x20 holders=h1 evidence=likely
`, "", ""},
	{"a channel as a lock, with and without its users", `
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h4 evidence=ambiguous
	g1 running n6
	g2 running n5
sample 2ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h4 evidence=likely
sample 3ms
	g0 waiting n0 reason="chan send" lock=0x10
`, `channel in main.a channel 0x10: 3 likely=1 ambiguous=1 none=1
  waits 3 go:main.a chan send in main.a
  holds 1/2 go:main.b in main.b
  holds 1/2 go:main.c in main.c
  may hold 1/2 go:main.b in main.b
  may hold 1/2 go:main.c in main.c
`, ""},
	{"a channel that was not read is the one of the others", `
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h2 evidence=likely
	g1 waiting n0 reason="chan send"
	g2 running n5
`, `channel in main.a channel 0x10: 2 likely=1 ambiguous=0 none=1
  waits 1 go:main.a chan send in main.a
  waits 1 go:main.b chan send in main.a
  holds 1 go:main.c in main.c
`, ""},
	{"one that was not read may be either of two", `
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h2 evidence=likely
	g1 waiting n0 reason="chan send" lock=0x20 holders=h2 evidence=likely
	g3 waiting n0 reason="chan send"
	g2 running n5
`, `channel in main.a of instance 1 channel 0x10: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  holds 1 go:main.c in main.c
channel in main.a of instance 2 channel 0x20: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.a
  holds 1 go:main.c in main.c
1 more
`, `channel in main.a channel 0x0: 2 instance 1=1 instance 2=1 likely=2 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  waits 1 go:main.b chan send in main.a
  holds 2 go:main.c in main.c
1 more
`},
	{"who waits for work at the other side waits for no place", `
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h1 evidence=likely
	g1 running n6
sample 2ms
	g0 running n0
	g1 waiting n2 reason="chan receive" lock=0x10 holders=h3 evidence=ambiguous
`, `channel in main.a channel 0x10: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  holds 1 go:main.b in main.b
`, ""},
	{"two channels of one function", `
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h2 evidence=likely
	g3 waiting n0 reason="chan send" lock=0x20 holders=h2 evidence=likely
	g2 running n5
sample 2ms
	g3 running n0
`, `channel in main.a of instance 1 channel 0x10: 2 likely=2 ambiguous=0 none=0
  waits 2 go:main.a chan send in main.a
  holds 2 go:main.c in main.c
channel in main.a of instance 2 channel 0x20: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  holds 1 go:main.c in main.c
`, `channel in main.a channel 0x0: 3 instance 1=2 instance 2=1 likely=3 ambiguous=0 none=0
  waits 3 go:main.a chan send in main.a
  holds 3 go:main.c in main.c
`},
	{"a channel with a name is one, whoever waits for it", `
lock 0x10 main.(*pool).slots capacity=1
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h2 evidence=likely
	g1 waiting n2 reason="chan send" lock=0x10 holders=h2 evidence=likely
	g2 running n5
`, `channel main.(*pool).slots channel 0x10: 2 likely=2 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  waits 1 go:main.b chan send in main.b
  holds 2 go:main.c in main.c
`, ""},
	{"a channel without a name has the one of another at the same stack, if all there have one name", `
lock 0x10 limit capacity=1
lock 0x30 one capacity=1
lock 0x40 other capacity=1
sample 1ms
	g0 waiting n0 reason="chan send" lock=0x10 holders=h2 evidence=likely
	g1 waiting n2 reason="chan send" lock=0x30 holders=h2 evidence=likely
	g2 running n5
sample 2ms
	g0 waiting n0 reason="chan send" lock=0x20 holders=h2 evidence=likely
	g1 waiting n2 reason="chan send" lock=0x40 holders=h2 evidence=likely
sample 3ms
	g0 running n0
	g1 waiting n2 reason="chan send" lock=0x50 holders=h2 evidence=likely
`, `channel limit of instance 1 channel 0x10: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  holds 1 go:main.c in main.c
channel limit of instance 2 channel 0x20: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.a chan send in main.a
  holds 1 go:main.c in main.c
channel one channel 0x30: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.b
  holds 1 go:main.c in main.c
channel other channel 0x40: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.b
  holds 1 go:main.c in main.c
channel in main.b channel 0x50: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.b
  holds 1 go:main.c in main.c
`, `channel limit channel 0x0: 2 instance 1=1 instance 2=1 likely=2 ambiguous=0 none=0
  waits 2 go:main.a chan send in main.a
  holds 2 go:main.c in main.c
channel one channel 0x30: 1 instance 1=1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.b
  holds 1 go:main.c in main.c
channel other channel 0x40: 1 instance 1=1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.b
  holds 1 go:main.c in main.c
channel in main.b channel 0x50: 1 instance 1=1 likely=1 ambiguous=0 none=0
  waits 1 go:main.b chan send in main.b
  holds 1 go:main.c in main.c
`},
	{"semaphores and pools count always", `
sample 1ms
	g0 waiting n8 reason=select lock=0x10
	g1 waiting n11 reason=select lock=0x20 holders=h2 evidence=ambiguous
	g2 running n5
sample 2ms
	g0 running n0
	g2 gone
`, `connection pool in main.b connection pool 0x20: 2 likely=0 ambiguous=2 none=0
  waits 2 go:main.b select in main.b
  may hold 1 go:main.c in main.c
semaphore in main.a semaphore 0x10: 1 likely=0 ambiguous=0 none=1
  waits 1 go:main.a select in main.a
`, ""},
	{"the lock of a socket, in the function outside of net that writes", `
function f10 net.(*UDPConn).WriteTo
function f11 internal/poll.(*FD).WriteTo
function f12 internal/poll.(*fdMutex).rwlock
function f13 internal/poll.runtime_Semacquire
node n13 f10 under=n0
node n14 f11 under=n13
node n15 f12 under=n14
node n16 f13 under=n15
sample 1ms
	g0 waiting n16 reason=semacquire lock=0x10 holders=h2 evidence=likely
	g2 running n5
`, `lock for writing to a file or socket in main.a lock for writing to a file or socket 0x10: 1 likely=1 ambiguous=0 none=0
  waits 1 go:main.a semacquire in main.a
  holds 1 go:main.c in main.c
`, ""},
}

func TestShared(t *testing.T) {
	const libraries = `
function f5 runtime.selectgo
function f6 golang.org/x/sync/semaphore.(*Weighted).Acquire
function f7 database/sql.(*DB).conn
function f8 database/sql.(*DB).Query
function f9 golang.org/x/sync/errgroup.(*Group).Wait
node n7 f6 under=n0
node n8 f5 under=n7
node n9 f8 under=n2
node n10 f7 under=n9
node n11 f5 under=n10
node n12 f9 under=n4
`
	for _, test := range sharings {
		t.Run(test.name, func(t *testing.T) {
			r := read(t, cast+libraries+test.text)
			for by, want := range map[By]string{ByInstance: test.want, ByField: test.byField} {
				a := fixture.Must(Analyse(r, views.Options{}, by))(t)
				got := sayShared(a)
				if by == ByField && want == "" {
					want, got = test.want, withoutParts(got)
				}
				if got != want {
					t.Errorf("by %d: got\n%s\nwant\n%s", by, got, want)
				}
				sum := 0
				for _, l := range a.Shared {
					sum += int(l.Hits.Num().Int64())
				}
				if got := a.SharedEvidence.Hits.RatString(); got != fmt.Sprint(sum) {
					t.Errorf("%s hits in all, want %d", got, sum)
				}
			}
		})
	}
}

// withoutParts removes the only instance of each line.
func withoutParts(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " instance 1=")
		if found {
			_, after, _ = strings.Cut(after, " ")
			line = before + " " + after
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
