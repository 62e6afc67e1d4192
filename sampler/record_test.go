//go:build linux

package sampler

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/monitor"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
)

// A faultyBackend fails as its function decides.
type faultyBackend struct {
	n       int
	learned time.Duration
	observe func(n int) error
	after   func() // nil outside of a recording
}

func (b *faultyBackend) Header() sampledata.Header { return sampledata.Header{Start: time.Now()} }
func (b *faultyBackend) Close() error              { return nil }
func (b *faultyBackend) Learned() time.Duration    { return b.learned }
func (b *faultyBackend) MayLearn(time.Duration)    {}
func (b *faultyBackend) Settle(sampledata.Sink)    {}
func (b *faultyBackend) Lead() time.Duration       { return 0 }
func (b *faultyBackend) Binary() *gobinary.Binary  { return nil }
func (b *faultyBackend) Release() error            { return nil }
func (b *faultyBackend) AfterHalt(f func())        { b.after = f }
func (b *faultyBackend) Seen() Memory              { return nil }
func (b *faultyBackend) ReadAlso(uint64, int)      {}

func (b *faultyBackend) Observe(_ context.Context, sink sampledata.Sink, s sampledata.Sample) (sampledata.Sample, error) {
	b.n++
	if err := b.observe(b.n); err != nil {
		return s, err
	}
	if b.after != nil {
		b.after()
	}
	return s, sink.Sample(s, nil)
}

// ourselves returns the process of this test, as a target that
// does not end.
func ourselves(t *testing.T) *Process {
	t.Helper()
	p := fixture.Must(Find(os.Getpid()))(t)
	t.Cleanup(p.Release)
	return p
}

// A sample that would end after the recording, by what the last
// ones took, is not begun. The first one, which reads
// everything, tells nothing of the others.
func TestRecordEndsInTime(t *testing.T) {
	for _, c := range []struct {
		first, others time.Duration
		want          int
	}{
		{300 * time.Millisecond, 300 * time.Millisecond, 3},
		{900 * time.Millisecond, time.Second, 2},
		{time.Second, time.Second, 1},
	} {
		now := time.Duration(0)
		b := &faultyBackend{observe: func(n int) error {
			if n == 1 {
				now += c.first
			} else {
				now += c.others
			}
			return nil
		}}
		o := Options{Rate: 30, Duration: time.Second, Clock: func() time.Duration { return now }}
		r, err := Record(t.Context(), ourselves(t), b, sampledata.NewBuilder(b.Header()), o)
		if err != nil || r.End.Cause != sampledata.EndDuration || b.n != c.want {
			t.Errorf("%v, then %v a sample: %d samples, want %d; %v, %+v", c.first, c.others, b.n, c.want, err, r.End)
		}
	}
}

// A reader counts how often it is read.
type reader struct{ reads *int }

func (reader) Monitors() []sampledata.Monitor {
	return []sampledata.Monitor{{Name: "reads", Kind: sampledata.Counter}}
}

func (r reader) Read(to []sampledata.Value) ([]sampledata.Value, error) {
	*r.reads++
	return append(to, sampledata.Count(uint64(*r.reads))), nil
}

func (reader) Close() error { return nil }

// Monitors that would be read long after the halt are not, but for
// the first sample, and if the one before was late, too.
func TestRecordLateReadings(t *testing.T) {
	now, reads := time.Duration(0), 0
	var read []int // by sample
	late := map[int]bool{1: true, 3: true, 5: true, 6: true}
	b := &faultyBackend{observe: func(n int) error {
		if read = append(read, reads); late[n] {
			now += 2 * time.Second
		}
		now += 10 * time.Millisecond
		return nil
	}}
	source := monitor.Source{Open: func(monitor.Target) (monitor.Reader, error) { return reader{&reads}, nil }}
	o := Options{Rate: 1000, Duration: 20 * time.Second, Clock: func() time.Duration { return now }, Monitors: []monitor.Source{source}}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(p Progress) {
		if p.Samples == 8 {
			cancel()
		}
	}
	fixture.Must(Record(ctx, ourselves(t), b, sampledata.NewBuilder(b.Header()), o))(t)
	// One more sample or several may be taken before it ends.
	if want := []int{1, 2, 3, 3, 4, 4, 5, 6}; !slices.Equal(read[:len(want)], want) {
		t.Errorf("the monitors had been read %v times before the samples, want %v", read, want)
	}
}

// Failed samples are counted as lost and as missed ticks, and
// the recording continues.
func TestRecordLostSamples(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &faultyBackend{observe: func(n int) error {
		switch {
		case n == 10:
			cancel()
		case n%2 == 0:
			return errors.New("reading runtime.allgs: not there")
		}
		return nil
	}}
	sink := sampledata.NewBuilder(b.Header())
	result := fixture.Must(Record(ctx, ourselves(t), b, sink, Options{Rate: 1000}))(t)
	rec := sink.Recording()
	missed := int32(0)
	for _, s := range rec.Samples.All() {
		missed += s.Missed
	}
	if result.Lost != 4 || result.Samples != 6 || missed < 4 || rec.End.Cause != sampledata.EndInterrupted {
		t.Errorf("%+v, %d missed", result, missed)
	}
	if len(rec.Warnings) != 1 || rec.Warnings[0].Kind != "lost-sample" || rec.Warnings[0].Count != 4 {
		t.Errorf("warnings %+v", rec.Warnings)
	}
}

// The cost of the last sample, and the ticks that were missed
// because of it, are in the recording although no other sample
// follows. The result names the limit that caused the missed
// ticks. A second is long enough for the two samples that show
// it, also on a busy machine.
func TestRecordAccountsForTheEnd(t *testing.T) {
	const cost, rate = 30 * time.Millisecond, 100
	b := &faultyBackend{observe: func(int) error {
		for begin := ProcessorTime(); ProcessorTime()-begin < cost; {
		}
		return nil
	}}
	sink := sampledata.NewBuilder(b.Header())
	result, err := Record(t.Context(), ourselves(t), b, sink, Options{Rate: rate, MaxCPU: 0.001, Duration: time.Second})
	fixture.Check(t, err)
	stats := sink.Recording().Stats()
	ticks, most := int64(stats.Samples)+stats.MissedTicks, int64(result.Elapsed.Seconds()*rate)+1
	if ticks < 100 || ticks > most {
		t.Errorf("%d samples and %d missed ticks in %v, want 100 to %d in all", stats.Samples, stats.MissedTicks, result.Elapsed, most)
	}
	if used := stats.SamplerCPUShare * stats.Duration.Seconds(); used < cost.Seconds() {
		t.Errorf("the recording says that %.3f s of processor time were used, want at least %v", used, cost)
	}
	if result.Bound.Flag != "--max-cpu" || result.Bound.Cost < cost || result.Missed != stats.MissedTicks {
		t.Errorf("%+v, want it to be held back by --max-cpu", result)
	}
}

// If every sample fails, the recording is finished, with the
// error as its end.
func TestRecordGivesUp(t *testing.T) {
	b := &faultyBackend{observe: func(int) error { return errors.New("no such memory") }}
	sink := sampledata.NewBuilder(b.Header())
	_, err := Record(t.Context(), ourselves(t), b, sink, Options{Rate: 1000})
	if err == nil || !strings.Contains(err.Error(), "20 samples in a row failed, the last: no such memory") {
		t.Errorf("error %v", err)
	}
	if end := sink.Recording().End; end == nil || end.Cause != sampledata.EndFailed || end.Detail != err.Error() {
		t.Errorf("end %+v", end)
	}
}

// A sink that fails (a full disk) ends the recording at once.
func TestRecordFullDisk(t *testing.T) {
	b := &faultyBackend{observe: func(int) error { return nil }}
	sink := &fullSink{Builder: sampledata.NewBuilder(b.Header())}
	_, err := Record(t.Context(), ourselves(t), b, sink, Options{Rate: 1000})
	if err == nil || err.Error() != "recording: no space left" || b.n != 1 {
		t.Errorf("after %d samples: %v", b.n, err)
	}
}

type fullSink struct{ *sampledata.Builder }

func (*fullSink) Sample(sampledata.Sample, []sampledata.Change) error {
	return errors.New("no space left")
}

func TestFind(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the details come from /proc")
	}
	dead := exec.Command("true")
	if err := dead.Start(); err != nil {
		t.Skip("there is no true to try it on")
	}
	defer dead.Wait()
	for s, _ := halt.ReadStat(dead.Process.Pid); s.State != 'Z'; s, _ = halt.ReadStat(dead.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	for _, c := range []struct {
		pid  int
		want string
	}{
		{-1, "no such process"},
		{0, "no such process"},
		{1 << 30, "no such process"},
		{dead.Process.Pid, "the process has exited"},
	} {
		_, err := Find(c.pid)
		var target *TargetError
		if !errors.As(err, &target) || target.What != c.want || target.Advice == "" {
			t.Errorf("Find(%d): %v, want %q", c.pid, err, c.want)
		}
	}
	p := ourselves(t)
	if len(p.Command()) == 0 || p.Command()[0] != os.Args[0] {
		t.Errorf("command %q, want %q", p.Command(), os.Args)
	}
}

func TestSpared(t *testing.T) {
	for _, c := range []struct {
		processors int
		idle, want float64
	}{
		{2, 0, 0.01}, {2, 0.01, 0.02}, {2, 1.9, 0.05}, {4, 0, 0.02}, {10, 0, 0.05}, {64, 0, 0.05},
	} {
		if got := spared(0.05, c.processors, c.idle); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("of %d processors with %v idle: %v, want %v", c.processors, c.idle, got, c.want)
		}
	}
}

// The time that a backend spends on analysing code takes at most
// half of the bound on processor time, so that there are samples
// meanwhile; all other time counts in full.
func TestRecordLearning(t *testing.T) {
	samples := func(learns bool) int64 {
		b := &faultyBackend{}
		b.observe = func(int) error {
			begin := ProcessorTime()
			for ProcessorTime()-begin < 5*time.Millisecond {
			}
			if learns {
				b.learned += ProcessorTime() - begin
			}
			return nil
		}
		r := fixture.Must(Record(t.Context(), ourselves(t), b, sampledata.NewBuilder(b.Header()), Options{
			Rate: 1000, MaxCPU: 0.02, Duration: time.Second,
		}))(t)
		return r.Samples
	}
	if with, without := samples(true), samples(false); with < 2*without {
		t.Errorf("%d samples where all is learning, %d where nothing is", with, without)
	}
}
