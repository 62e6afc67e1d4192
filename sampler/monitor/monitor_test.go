//go:build linux

package monitor

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// measured takes a sample with the values of the monitors, and
// returns them by name.
func measured(t *testing.T, s *Set, b *sampledata.Builder) map[string]float64 {
	t.Helper()
	fixture.Check(t, s.Measure(b))
	fixture.Check(t, b.Sample(sampledata.Sample{}, nil))
	values := map[string]float64{}
	for _, series := range b.Recording().Series {
		for _, v := range series.All() {
			if f, ok := v.Float(); ok {
				values[series.Name] = f
			}
		}
	}
	return values
}

// For a program that uses processor time and memory, the
// monitors measure as much as the program itself reports.
func TestProcessStat(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "grower"))
	b := sampledata.NewBuilder(sampledata.Header{})
	s, _ := Open(Target{PID: target.Pid()}, Builtin())
	s.Define(b)
	defer s.Close()
	before := measured(t, s, b)
	used := target.Answer(t)
	time.Sleep(statEvery)
	after := measured(t, s, b)
	// The file counts user and system time in whole ticks; the
	// program uses little more after it has read its own usage.
	if got := after["process.cpu"]; got < used-float64(2*tick) || got > used+float64(10*tick) {
		t.Errorf("%v ns of processor time, but the program reports %v", got, used)
	}
	if grown := after["process.cpu"] - before["process.cpu"]; grown < 450e6 {
		t.Errorf("%v ns more processor time, want about 500 ms", grown)
	}
	if grown := after["process.resident"] - before["process.resident"]; grown < 60<<20 || before["process.resident"] < 1<<19 {
		t.Errorf("%v bytes resident before, and %v more after, want 64 MiB more", before["process.resident"], grown)
	}
}

// Values that can't be read are not measured: from the beginning
// if there is no such process, and later if it has ended.
func TestNotMeasured(t *testing.T) {
	t.Parallel()
	b := sampledata.NewBuilder(sampledata.Header{})
	sources := []Source{processStat, threadTimes}
	none, _ := Open(Target{PID: math.MaxInt32}, sources)
	none.Define(b)
	if err := none.Measure(b); err != nil {
		t.Error(err)
	}
	fixture.Check(t, b.Sample(sampledata.Sample{}, nil))
	for _, s := range b.Recording().Series {
		if !strings.Contains(s.Unmeasured, "no such file") || s.Changes() != 0 {
			t.Errorf("%+v", s)
		}
	}

	target := fixture.Start(t, fixture.Build(t, "grower"))
	b = sampledata.NewBuilder(sampledata.Header{})
	s, _ := Open(Target{PID: target.Pid()}, sources)
	s.Define(b)
	defer s.Close()
	measured(t, s, b)
	target.Process.Kill()
	target.Wait()
	time.Sleep(threadsEvery)
	if err := s.Measure(b); err == nil || !strings.Contains(err.Error(), "no such process") {
		t.Errorf("read of a process that has ended: %v", err)
	}
	fixture.Check(t, b.Sample(sampledata.Sample{}, nil))
	for _, series := range b.Recording().Series {
		var last sampledata.Value
		for _, v := range series.All() {
			last = v
		}
		if last.Measured() || series.Changes() != 2 {
			t.Errorf("%s ends with %v after %d changes", series.Name, last, series.Changes())
		}
	}
}

func TestStatField(t *testing.T) {
	for _, name := range []string{"server", "", "a b", "a) S 1 2 (b", ")", "(((", "new\nline"} {
		line := []byte("1 (" + name + ") S 4 5 6 7 8 9 10 11 12\n")
		for number, want := range map[int]string{3: "S", 10: "10", 12: "12", 13: ""} {
			if got := string(statField(line, number)); got != want {
				t.Errorf("%q: field %d is %q, want %q", name, number, got, want)
			}
		}
	}
	if got := statField([]byte("cut off"), 30); got != nil {
		t.Errorf("a line without a name has a field %q", got)
	}
}

// readAgain measures the time of a Read.
func readAgain(b *testing.B, r Reader) {
	b.ReportAllocs()
	var values []sampledata.Value
	for b.Loop() {
		values = fixture.Must(r.Read(values[:0]))(b)
	}
}

// All monitors of a program that has ended already are defined,
// as not measured.
func TestNothingMeasured(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{})
	s := fixture.Must(Open(Target{PID: math.MaxInt32}, Builtin()))(t)
	s.Define(b)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	fixture.Check(t, b.Sample(sampledata.Sample{}, nil))
	unmeasured := 0
	for _, series := range b.Recording().Series {
		if series.Layer == sampledata.Runtime && series.Unmeasured == "" {
			t.Errorf("%s is defined as measured", series.Name)
		}
		unmeasured++
	}
	if unmeasured < 20 {
		t.Errorf("%d monitors", unmeasured)
	}
}
