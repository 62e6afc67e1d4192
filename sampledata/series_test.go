package sampledata

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// A value that was not measured is not a number, and the largest
// counts are exact, in JSON too.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		v        Value
		text     string
		float    float64
		isNumber bool
		json     string
	}{
		{Value{}, "not measured", 0, false, "null"},
		{Count(0), "0", 0, true, "0"},
		{Count(math.MaxUint64), "18446744073709551615", 1 << 64, true, "18446744073709551615"},
		{Number(math.MinInt64), "-9223372036854775808", -1 << 63, true, "-9223372036854775808"},
		{Real(0.1), "0.1", 0.1, true, "0.1"},
		{Real(math.Inf(-1)), "-Inf", math.Inf(-1), true, `"-Inf"`},
		{Real(math.NaN()), "not measured", 0, false, "null"},
		{Word("mark"), "mark", 0, false, `"mark"`},
		{Word("<12>"), "<12>", 0, false, `"<12>"`},
	} {
		if f, isNumber := c.v.Float(); c.v.String() != c.text || f != c.float || isNumber != c.isNumber {
			t.Errorf("%+v is %q, %v, %v", c, c.v, f, isNumber)
		}
		text := fixture.Must(c.v.MarshalJSON())(t)
		if got := strings.TrimSpace(string(text)); got != c.json {
			t.Errorf("%+v is %s in JSON", c, got)
		}
	}
	if (Value{}).Measured() || !Count(0).Measured() || Count(0) == Number(0) {
		t.Error("0 equals a value that was not measured, or two kinds of 0 are equal")
	}
}

// values returns the values of a series, sample by sample.
func values(s *Series, samples int) []Value {
	list := make([]Value, samples)
	for from, v := range s.All() {
		for i := from; i < samples; i++ {
			list[i] = v
		}
	}
	return list
}

// A series has what was measured, sample by sample. A recording
// that was returned does not change when the series grows.
func TestSeriesGrows(t *testing.T) {
	b := NewBuilder(testHeader())
	m := b.Monitor(Monitor{Name: "queue", Kind: Level})
	want := []Value{{}, Number(3), Number(3), {}, Number(-1)}
	var views []*Recording
	for _, v := range want {
		b.Measure(m, v)
		fixture.Check(t, b.Sample(Sample{}, nil))
		views = append(views, b.Recording())
	}
	for i, r := range views {
		if got := values(&r.Series[m], i+1); !slices.Equal(got, want[:i+1]) {
			t.Errorf("after %d samples: %v, want %v", i+1, got, want[:i+1])
		}
	}
	if n := views[len(want)-1].Series[m].Changes(); n != 3 {
		t.Errorf("%d changes, want 3", n)
	}
}

// The last value before a sample counts. If a sample is refused,
// its values count for the next one.
func TestMeasureCountsWithTheSample(t *testing.T) {
	b := NewBuilder(testHeader())
	m := b.Monitor(Monitor{Name: "queue", Kind: Level})
	b.Measure(m, Number(1))
	b.Measure(m, Number(2))
	if len(b.Recording().Series) != 0 {
		t.Error("a series without a sample")
	}
	if err := b.Sample(Sample{Time: -1}, nil); err == nil {
		t.Fatal("a sample at a negative time was accepted")
	}
	fixture.Check(t, b.Sample(Sample{}, nil))
	if got := values(&b.Recording().Series[m], 1); got[0] != Number(2) {
		t.Errorf("%v, want 2", got)
	}
}

// If a monitor or a value breaks a rule, the next call of Sample
// returns the error.
func TestMeasureRefuses(t *testing.T) {
	for want, misuse := range map[string]func(b *Builder){
		"sample 0: value of monitor 1, which is none of the 1 monitors":            func(b *Builder) { b.Measure(1, Count(1)) },
		"sample 0: value of monitor -1, which is none of the 1 monitors":           func(b *Builder) { b.Measure(-1, Count(1)) },
		`sample 0: monitor "cpu": 1 is not a value of a monitor of its kind`:       func(b *Builder) { b.Measure(0, Number(1)) },
		`sample 0: monitor "cpu": it has another definition already, as monitor 0`: func(b *Builder) { b.Monitor(Monitor{Name: "cpu", Unit: "s"}) },
		`sample 0: monitor "": no name`:                                            func(b *Builder) { b.Monitor(Monitor{}) },
		`sample 0: monitor "pmu": it has values, but is not measured: it is not permitted`: func(b *Builder) {
			b.Measure(b.Monitor(Monitor{Name: "pmu", Unmeasured: "it is not permitted"}), Count(1))
		},
	} {
		b := NewBuilder(testHeader())
		b.Monitor(Monitor{Name: "cpu", Unit: "ns"})
		misuse(b)
		if err := b.Sample(Sample{}, nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestTooManyMonitors(t *testing.T) {
	b := NewBuilder(testHeader())
	for i := range maxMonitors + 1 {
		b.Monitor(Monitor{Name: Count(uint64(i)).String()})
	}
	const want = `sample 0: monitor "4096": more than 4096 monitors`
	if err := b.Sample(Sample{}, nil); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// withSamples changes the Sample records of a file.
func withSamples(t *testing.T, samples []byte, change func(*pb.Sample)) []byte {
	var records []proto.Message
	for rest := contentOf(t, samplesTag, samples, &pb.DataRecord{}); len(rest) > 0; {
		body, n := protowire.ConsumeBytes(rest)
		rest = rest[n:]
		r := &pb.DataRecord{}
		fixture.Check(t, proto.Unmarshal(body, r))
		if s := r.GetSample(); s != nil {
			change(s)
		}
		records = append(records, r)
	}
	return foreignFrame(t, samplesTag, records...)
}

// A file of a cpprof without monitors is a recording without
// series. Such a cpprof skips the new fields, as this one skips
// fields that it does not know.
func TestSeriesAreFieldsThatReadersMaySkip(t *testing.T) {
	texts, samples, want := twoFiles(t)
	later := withSamples(t, samples, func(s *pb.Sample) {
		s.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 5))
	})
	got := fixture.Must(open(texts, later))(t)
	equal(t, got, want)
	earlier := withSamples(t, samples, func(s *pb.Sample) { s.Monitors, s.Values = nil, nil })
	got = fixture.Must(open(texts, earlier))(t)
	want.Series = nil
	equal(t, got, want)
}

// However much a value changes, it adds at most 12 bytes to a
// sample's record.
func TestSizeOfChangedValues(t *testing.T) {
	const n = maxMonitors
	e, table := &encoder{}, &monitors{}
	size := func(measured []measurement) int {
		m := &pb.Sample{Time: 1}
		e.series(m, table, measured)
		return proto.Size(m)
	}
	var all []measurement
	for i := range n {
		m, before, now := Monitor{Kind: Level}, Number(0), Number(math.MinInt64)
		if i%2 == 0 {
			m.Real, before, now = true, Real(1), Real(-math.MaxFloat64)
		}
		table.forms = append(table.forms, m.form())
		all = append(all, measurement{id: MonitorID(i), measured: true, step: m.form().step(before.bits, now.bits)})
	}
	if got := size(all) - size(nil); got > 12*n {
		t.Errorf("%d bytes for %d values", got, n)
	}
	last := all[n-1:] // the largest step from one monitor to the next
	if got := size(last) - size(nil) - 4; got > 12 {
		t.Errorf("%d bytes for one value", got)
	}
}
