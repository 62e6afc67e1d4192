package why

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
)

// probedFor returns a probe of main.work that was in for a
// second, with calls that took some times.
func probedFor(times ...time.Duration) *sampledata.Probe {
	p := &sampledata.Probe{Function: "main.work", Instrument: sampledata.Uprobe, To: time.Second, ReturnsUpTo: time.Second}
	for _, d := range times {
		p.Calls++
		p.Elapsed.Add(int64(d))
	}
	return p
}

func repeated(n int, d time.Duration) (list []time.Duration) {
	for range n {
		list = append(list, d)
	}
	return list
}

func TestPatternsOfCalls(t *testing.T) {
	for _, c := range []struct {
		what  string
		times []time.Duration
		want  Pattern
	}{
		{"2000 calls of 5 µs", repeated(2000, 5*time.Microsecond), ManyShort},
		{"500 calls of 5 µs, which are few", repeated(500, 5*time.Microsecond), ""},
		{"20 calls of 20 ms", repeated(20, 20*time.Millisecond), FewLong},
		{"300 calls of 1 ms, which are neither", repeated(300, time.Millisecond), ""},
		{"285 calls of 10 µs and 15 of 40 ms", append(repeated(285, 10*time.Microsecond), repeated(15, 40*time.Millisecond)...), Uneven},
		{"half of 10 µs, half of 40 ms", append(repeated(150, 10*time.Microsecond), repeated(149, 40*time.Millisecond)...), ""},
		{"the same, but too few to be certain", append(repeated(28, 10*time.Microsecond), repeated(2, 400*time.Millisecond)...), ""},
	} {
		if got := measuredBy(&sampledata.Recording{}, probedFor(c.times...), PlaceRole); got.Pattern != c.want || got.Calls != uint64(len(c.times)) {
			t.Errorf("%s: %q, want %q (%+v)", c.what, got.Pattern, c.want, got)
		}
	}
}

// busyRecording has a goroutine that is in main.work, called by
// main.main, all the time of 100 samples in a second.
func busyRecording(t *testing.T) *sampledata.Recording {
	t.Helper()
	var b strings.Builder
	b.WriteString("cpprof recording 1\nfunction f0 main.main\nfunction f1 main.work\nnode n0 f0\nnode n1 f1 under=n0\ngoroutine g0 1 start=f0\n")
	for i := range 100 {
		fmt.Fprintf(&b, "sample %v\n g0 running n1\n", time.Duration(i)*10*time.Millisecond)
	}
	return fixture.Must(sampledata.ReadText(strings.NewReader(b.String())))(t)
}

// If a probe was taken out before there were samples, all
// samples give an upper bound of the mean time.
func TestUpperBoundOfTheMean(t *testing.T) {
	r := busyRecording(t)
	p := sampledata.Probe{Function: "main.work", Instrument: sampledata.Uprobe, To: 5 * time.Millisecond, Calls: 1000, TakenOut: true}
	m := measuredBy(r, &p, PlaceRole)
	if !m.AtMost || m.PerSecond != 200_000 || m.Mean != 5*time.Microsecond || m.Pattern != ManyShort {
		t.Errorf("%+v", m)
	}
}

// The finding about a function has what the probe of it
// measured, or why there is none, and then that of the caller.
func TestFindingsAreMeasured(t *testing.T) {
	r := busyRecording(t)
	refused := sampledata.Probe{Function: "main.work", Note: "it has no frame"}
	caller := *probedFor(repeated(2000, 5*time.Microsecond)...)
	caller.Function = "main.main"
	caller.Sites = []sampledata.CallSite{{Caller: "main.init", Calls: 2000, Elapsed: caller.Elapsed}}
	r.Probes = []sampledata.Probe{refused, caller}
	a := fixture.Must(Find(r, configured()))(t)
	if len(a.Findings) == 0 || len(a.Findings[0].Measured) != 2 {
		t.Fatalf("%+v", a.Findings)
	}
	m := a.Findings[0].Measured
	if m[0].Refused != "it has no frame" || m[1].Role != CallerRole || m[1].Pattern != ManyShort || len(m[1].Sites) != 1 || m[1].Sites[0].Share != 1 {
		t.Errorf("%+v", m)
	}
}

// The course has the verdicts that less evidence had: what
// begins late is NO or MAYBE at first, and YES in the end.
func TestCourseOfVerdicts(t *testing.T) {
	r := busyRecording(t)
	e := fixture.Must(newEvidence(r, configured().Views))(t)
	all := make([]hotspots.Observation, 100)
	for i := range all {
		all[i] = hotspots.Observation{Weight: 1, Base: 1}
		if i >= 60 {
			all[i].Hits = 1
		}
	}
	const tenth = 0.1
	steps := e.course(all, tenth)
	if len(steps) < 2 || steps[0].Verdict == hotspots.Yes || steps[len(steps)-1].Verdict != hotspots.Yes {
		t.Fatalf("%+v", steps)
	}
	if last := steps[len(steps)-1]; last.At < 600*time.Millisecond || last.Share.Low <= tenth {
		t.Errorf("YES from %+v", last)
	}
	if steps := e.course(all[:minSamples-1], tenth); steps != nil {
		t.Errorf("a verdict on too few samples: %+v", steps)
	}
}
