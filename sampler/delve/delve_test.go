package delve

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// skipUnsupported skips a test on systems where no target can be halted.
func skipUnsupported(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
}

// attach prepares to sample a running program.
func attach(t testing.TB, r *fixture.Running) (*sampler.Process, *Backend) {
	t.Helper()
	skipUnsupported(t)
	p := fixture.Must(sampler.Find(r.Pid()))(t)
	t.Cleanup(p.Release)
	b := fixture.Must(Load(p.Executable))(t)
	a, err := b.Attach(p)
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("ptrace is not permitted here: %v", err)
	}
	fixture.Check(t, err)
	t.Cleanup(func() { a.Close() })
	return p, a
}

// record takes n samples of a program, as fast as possible.
func record(t testing.TB, r *fixture.Running, n int64) *sampledata.Recording {
	t.Helper()
	p, a := attach(t, r)
	return take(t, p, a, n)
}

// take takes n samples with a backend. A backend can make only
// one recording.
func take(t testing.TB, p *sampler.Process, a *Backend, n int64) *sampledata.Recording {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := sampler.Options{Rate: 200, Jitter: 1, Progress: func(p sampler.Progress) {
		if p.Samples >= n {
			cancel()
		}
	}}
	return recordWith(t, ctx, p, a, o)
}

// awaitParked waits until all goroutines that these functions
// start are waiting. This may be long after the program has said
// that it is ready.
func awaitParked(t testing.TB, r *fixture.Running, starts ...string) {
	t.Helper()
	onTheWay := func(s seen) bool { return s.state.Run != sampledata.Waiting && s.state.Run != sampledata.Blocked }
	for end := time.Now().Add(time.Minute); ; {
		now := samples(record(t, r, 1), starts...)[0]
		if len(now) > 0 && !slices.ContainsFunc(now, onTheWay) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("goroutines of %v have not come to wait", starts)
		}
	}
}

func recordWith(t testing.TB, ctx context.Context, p *sampler.Process, a *Backend, o sampler.Options) *sampledata.Recording {
	t.Helper()
	h := a.Header()
	o.Describe(&h, "test", Name)
	sink := sampledata.NewBuilder(h)
	result := fixture.Must(sampler.Record(ctx, p, a, sink, o))(t)
	rec := sink.Recording()
	if err := rec.Check(); err != nil {
		t.Error(err)
	}
	if rec.End == nil || *rec.End != result.End {
		t.Errorf("the recording ends with %+v, Record said %+v", rec.End, result.End)
	}
	for _, w := range rec.Warnings {
		t.Logf("warning: %+v", w)
	}
	return rec
}

// A seen is one goroutine in one sample.
type seen struct {
	rec   *sampledata.Recording
	goid  int64
	start string
	state sampledata.State
}

// stack returns the names of the functions, outermost first.
func (s seen) stack() []string {
	var names []string
	for n := s.state.Stack; n != sampledata.NoStack; n = s.rec.Nodes[n].Parent {
		names = append([]string{s.rec.Functions[s.rec.Nodes[n].Function].Name}, names...)
	}
	return names
}

// has reports whether a function is in the stack.
func (s seen) has(function string) bool {
	for n := s.state.Stack; n != sampledata.NoStack; n = s.rec.Nodes[n].Parent {
		if s.rec.Functions[s.rec.Nodes[n].Function].Name == function {
			return true
		}
	}
	return false
}

// samples returns, for every sample, the goroutines that a go
// statement of one of the functions started; without functions,
// all goroutines.
func samples(rec *sampledata.Recording, starts ...string) [][]seen {
	out := make([][]seen, rec.Samples.Len())
	for _, run := range rec.Runs.All() {
		g := rec.Goroutines.At(run.Goroutine)
		name := ""
		if g.Start >= 0 {
			name = rec.Functions[g.Start].Name
		}
		wanted := len(starts) == 0
		for _, s := range starts {
			wanted = wanted || s == name
		}
		if !wanted {
			continue
		}
		for i := run.First; i <= run.Last; i++ {
			out[i] = append(out[i], seen{rec, g.ID, name, run.State()})
		}
	}
	return out
}
