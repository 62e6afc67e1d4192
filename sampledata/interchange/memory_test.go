package interchange

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// bombOfSamples is a profile with very many samples of one
// stack, all alike.
func bombOfSamples(t *testing.T) []byte {
	f := &profile.Function{ID: 1, Name: "main.main"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
	}
	var b bytes.Buffer
	fixture.Check(t, p.WriteUncompressed(&b))
	sample := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), []byte{0x0a, 1, 1, 0x12, 1, 1})
	return append(b.Bytes(), bytes.Repeat(sample, 800_000)...)
}

// deepStacks is a profile of stacks that are all different, and
// as deep as possible.
func deepStacks(t *testing.T) []byte {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}}
	location := func(id uint64) *profile.Location {
		f := &profile.Function{ID: id, Name: fmt.Sprint("f", id)}
		l := &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		return l
	}
	below := slices.Repeat([]*profile.Location{location(1)}, sampledata.MaxDepth-1)
	for i := range 10 {
		below[0] = location(uint64(100 + i))

		p.Sample = append(p.Sample, &profile.Sample{Location: append(slices.Clip(below), location(uint64(i+2))), Value: []int64{1}})
	}
	return written(t, p)
}

func written(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	fixture.Check(t, p.Write(&b))
	return b.Bytes()
}

// A stack that has one location with many inlined calls very
// often has too many calls.
func TestInlinedCallsCount(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "main.main"}
	l := &profile.Location{ID: 1, Line: slices.Repeat([]profile.Line{{Function: f}}, 1000)}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{{Location: slices.Repeat([]*profile.Location{l}, 1000), Value: []int64{1}}},
	}
	_, err := readBytes(t, written(t, p), Options{})
	if want := "a stack of more than 10000 calls"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What is small as a file and large in memory is refused before
// it takes much more than it may.
func TestMemoryIsBounded(t *testing.T) {
	const maxMemory = 8 << 20
	for name, bomb := range map[string][]byte{
		"pprof":   bombOfSamples(t),
		"deep":    deepStacks(t),
		"arcflow": []byte(strings.Repeat("0 > main.f\n", 100_000)),
	} {
		t.Run(name, func(t *testing.T) {
			in, err := Stream(bytes.NewReader(bomb), "bomb", Auto)
			fixture.Check(t, err)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = in.Recording(Options{MaxMemory: maxMemory})
			runtime.ReadMemStats(&after)
			var over *memory.Error
			if !errors.As(err, &over) || !strings.HasPrefix(err.Error(), "reading bomb: ") || !strings.Contains(err.Error(), "--max-memory") {
				t.Errorf("got %v", err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 4*maxMemory {
				t.Errorf("%d bytes allocated, with a bound of %d", got, maxMemory)
			}
		})
	}
}
