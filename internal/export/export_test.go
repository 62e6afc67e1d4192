package export

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// hostile is a name that no format may take literally.
const hostile = "main.evil;\n\x1b[31m\"},</script>\u2028\xff,=cmd|' /C calc'!A0"

// subject returns a view of a recording as a subject.
func subject(t testing.TB, r *sampledata.Recording, o views.Options, view views.Maker) *Subject {
	t.Helper()
	v := fixture.Must(view(r, o))(t)
	return subjectOf(r, o, v)
}

func subjectOf(r *sampledata.Recording, o views.Options, v *views.View) *Subject {
	c := config.Default()
	session := refine.NewSession(v.Tree, c.AllAspects().Membership(v.Tree.Symbols()))
	return &Subject{Path: "run.cpprof", Title: "a view", Recording: r, Options: o, Config: c, Session: session}
}

// hostileRecording has two goroutines with hostile names in
// every table. One of them waits for a lock that the other one
// holds.
func hostileRecording(t testing.TB) *sampledata.Recording {
	t.Helper()
	b := sampledata.NewBuilder(sampledata.Header{Command: []string{hostile}, Executable: hostile, PID: 7, GOMAXPROCS: 1, Start: time.Unix(1, 0)})
	fn := b.Function(sampledata.Function{Name: hostile, File: hostile, Line: 3})
	outer := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: fn, Line: 4})
	inner := b.Node(sampledata.Node{Parent: outer, Function: fn, Line: 5, Inlined: true})
	labels := b.LabelSet([]sampledata.Label{{Key: hostile, Value: hostile}})
	first := b.Goroutine(sampledata.Goroutine{ID: 1, Start: fn, Site: sampledata.Site{Function: hostile, File: hostile, Line: 1}})
	second := b.Goroutine(sampledata.Goroutine{ID: 2, Start: fn})
	holders := b.HolderSet([]sampledata.GoroutineID{first})
	b.LockName(sampledata.LockName{Address: 0x10, Name: hostile})
	for i := range 3 {
		var changes []sampledata.Change
		if i == 0 {
			changes = []sampledata.Change{
				{Goroutine: first, State: sampledata.State{Stack: inner, Run: sampledata.Waiting, Reason: hostile, Labels: labels}},
				{Goroutine: second, State: sampledata.State{Stack: inner, Run: sampledata.Blocked, Lock: 0x10, Holders: holders, Evidence: sampledata.Inferred}},
			}
		}
		s := sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}}
		fixture.Check(t, b.Sample(s, changes))
	}
	fixture.Check(t,
		b.Finish(sampledata.End{Cause: sampledata.EndDuration, Time: 40 * time.Millisecond}))
	r := b.Recording()
	fixture.Check(t, r.Check())
	return r
}

// smallTree returns a tree with weights of thirds.
func smallTree(t testing.TB) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), "go:main.worker", "time", "nanoseconds")
	b.Add(0, b.Stack("main.worker", ":RUN"), 10, 1)
	b.Add(0, b.Stack("main.worker", "main.f", ":MONITOR", "go:main.holder", ":RUN"), 20, 3)
	b.Add(0, b.Stack("main.worker", "main.f", ":WAIT"), 1, 2)
	return fixture.Must(b.Tree())(t)
}

func write(t testing.TB, name string, s *Subject) string {
	t.Helper()
	f := fixture.Must(Lookup(name))(t)
	var out bytes.Buffer
	if err := f.Write(&out, s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String()
}

// Whatever names a recording has, no format that is text gets a
// control character of theirs.
func TestHostileNames(t *testing.T) {
	r := hostileRecording(t)
	for _, f := range formats {
		for view, maker := range map[string]views.Maker{"threads": views.Threads, "server": views.Server} {
			t.Run(f.Name+"/"+view, func(t *testing.T) {
				text := write(t, f.Name, subject(t, r, views.Options{}, maker))
				if !f.Binary && strings.ContainsAny(text, "\x1b\u2028") {
					t.Errorf("it has a name as it is: %q", text)
				}
			})
		}
	}
}

func TestFolded(t *testing.T) {
	s := subjectOf(nil, views.Options{}, &views.View{Tree: smallTree(t)})
	want := `go:main.worker;main.worker;:RUN 10
go:main.worker;main.worker;main.f;:MONITOR;go:main.holder;:RUN 7
go:main.worker;main.worker;main.f;:WAIT 1
`
	if got := write(t, "folded", s); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The entries of a refined view are stacks that weigh what the
// entries below them don't.
func TestRefinedTree(t *testing.T) {
	s := subjectOf(nil, views.Options{}, &views.View{Tree: smallTree(t)})
	for _, step := range []refine.Step{{Kind: refine.KindDown, Text: "*"}, {Kind: refine.KindDown, Text: "* main.worker"}} {
		fixture.Check(t, s.Session.Apply(step))
	}
	s.Refined = true
	want := "go:main.worker;main.worker;:RUN 10\ngo:main.worker;main.worker;main.f 7\n"
	if got := write(t, "folded", s); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	tree := fixture.Must(s.Tree())(t)
	if m, of := tree.Main(), smallTree(t).Main(); m.Denominator.Cmp(of.Denominator) != 0 || m.Cum(0).Cmp(of.Cum(0)) != 0 {
		t.Errorf("it weighs %v of %v, want %v of %v", m.Cum(0), m.Denominator, of.Cum(0), of.Denominator)
	}
}

// What --up finds can be written, too; and what counts for
// several entries can be written as a table only.
func TestRefinedUpAndExtended(t *testing.T) {
	for _, c := range []struct {
		step refine.Step
		want string // or the error
	}{
		{refine.Step{Kind: refine.KindUp, Text: "* | :RUN"}, "go:main.worker;..main.worker 7\ngo:main.worker;..main.worker;:RUN 10\n"},
		{refine.Step{Kind: refine.KindExtended, Text: "*"}, "stacks of ..:RUN also count for another entry beside it"},
	} {
		s := subjectOf(nil, views.Options{}, &views.View{Tree: smallTree(t)})
		fixture.Check(t, s.Session.Apply(c.step))
		s.Refined = true
		var out bytes.Buffer
		if err := folded.Write(&out, s); err != nil {
			out.WriteString(err.Error())
		}
		if got := out.String(); got != c.want && !strings.Contains(got, c.want+", ") {
			t.Errorf("%s: got\n%swant\n%s", c.step.Text, got, c.want)
		}
		if table := write(t, "csv", s); strings.Count(table, "\n") < 4 {
			t.Errorf("%s: the table has only\n%s", c.step.Text, table)
		}
	}
}
