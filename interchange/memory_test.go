package interchange

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// bombOfSamples is a profile with very many samples of one stack, all alike.
func bombOfSamples(t *testing.T) []byte {
	f := &profile.Function{ID: 1, Name: "main.main"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
	}
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	sample := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), []byte{0x0a, 1, 1, 0x12, 1, 1})
	return append(b.Bytes(), bytes.Repeat(sample, 200_000)...)
}

// What is small as a file and large in memory is refused before it takes much more than it may.
func TestMemoryIsBounded(t *testing.T) {
	const maxMemory = 8 << 20
	for name, bomb := range map[string][]byte{
		"pprof":   bombOfSamples(t),
		"arcflow": []byte(strings.Repeat("0 > main.f\n", 100_000)),
	} {
		t.Run(name, func(t *testing.T) {
			in, err := Stream(bytes.NewReader(bomb), "bomb", Auto)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = in.Tree(Options{MaxMemory: maxMemory})
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
