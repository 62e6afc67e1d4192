package sampledata

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// The total of all allocations, as a multiple of the bound. It
// includes garbage: a record of a few bytes is decoded into a
// message of 100 or 200 bytes, and a line is split into words
// and tables.
const (
	binaryGarbage = 24
	textGarbage   = 80
)

// refusedWithin checks that reading fails because of too little
// memory, that the error names the place, and that not much more
// is allocated than allowed.
func refusedWithin(t *testing.T, maxMemory, garbage int64, place string, read func() error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := read()
	runtime.ReadMemStats(&after)
	var over *memory.Error
	if !errors.As(err, &over) || over.Max != maxMemory || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("got %v, want an error at %s", err, place)
	}
	if got := int64(after.TotalAlloc - before.TotalAlloc); got > memoryAlways+garbage*maxMemory {
		t.Errorf("%d bytes allocated, with a bound of %d", got, maxMemory)
	}
}

// bombs are records that take far more memory than they have
// bytes; the keys say why.
func bombs(t *testing.T) map[string][]byte {
	record := func(r *pb.DataRecord) []byte {
		b := fixture.Must(proto.Marshal(r))(t)
		return protowire.AppendBytes(nil, b)
	}
	const rows = 2 << 20
	goroutines := &pb.Goroutines{
		Id: make([]int64, rows/4), Start: make([]uint32, rows/4), SiteFunction: make([]uint32, rows/4), SiteFile: make([]uint32, rows/4),
		SiteLine: make([]uint32, rows/4), Parent: make([]int64, rows/4), Kind: make([]uint32, rows/4),
	}
	changes := record(&pb.DataRecord{Kind: &pb.DataRecord_Changes{Changes: &pb.Changes{
		Goroutine: make([]int64, 1000), Stack: make([]uint32, 1000), Mode: make([]uint32, 1000),
	}}})
	return map[string][]byte{
		"samples":    bytes.Repeat(record(&pb.DataRecord{Kind: &pb.DataRecord_Sample{Sample: &pb.Sample{}}}), rows),
		"goroutines": record(&pb.DataRecord{Kind: &pb.DataRecord_Goroutines{Goroutines: goroutines}}),
		"changes":    bytes.Repeat(changes, rows/1000),
	}
}

func TestMemoryIsBounded(t *testing.T) {
	texts, samples, _ := twoFiles(t)
	header := contentOf(t, samplesTag, samples, &pb.DataRecord{})
	_, n := protowire.ConsumeBytes(header)
	for name, bomb := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			file := append(frameOf(t, samplesTag, header[:n]), frameOf(t, samplesTag, bomb)...)
			const maxMemory = 4 << 20
			refusedWithin(t, maxMemory, binaryGarbage, "reading sample data file r.cpprof/SampleData: record ", func() error {
				_, err := openWithin(texts, file, maxMemory)
				return err
			})
		})
	}
}

func TestMemoryOfStringsIsBounded(t *testing.T) {
	texts, samples, _ := twoFiles(t)
	content := contentOf(t, stringsTag, texts, &pb.StringsRecord{})
	bomb, err := proto.Marshal(&pb.StringsRecord{Kind: &pb.StringsRecord_Texts{Texts: &pb.Texts{Text: make([][]byte, 1<<20)}}})
	fixture.Check(t, err)
	file := append(frameOf(t, stringsTag, content), frameOf(t, stringsTag, protowire.AppendBytes(nil, bomb))...)
	const maxMemory = 8 << 20
	refusedWithin(t, maxMemory, binaryGarbage, "reading strings file r.cpprof/Strings: record ", func() error {
		_, err := openWithin(file, samples, maxMemory)
		return err
	})
}

func TestMemoryOfTextIsBounded(t *testing.T) {
	const maxMemory = 1 << 20
	for name, text := range map[string]string{
		"samples":  strings.Repeat("sample 0s\n", 100_000),
		"values":   strings.Repeat("sample 0s missed=0\n", 100_000),
		"names":    "warning a 1 " + strings.Repeat("b", 1<<15) + "\n" + strings.Repeat("warning a 1 "+strings.Repeat("b", 1000)+"\n", 2000),
		"one line": strings.Repeat("a ", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			refusedWithin(t, maxMemory, textGarbage, "read recording from text: line ", func() error {
				_, err := ReadTextWithin(strings.NewReader("cpprof recording 1\n"+text), maxMemory)
				return err
			})
		})
	}
}

// The charged memory of a recording is about what it really takes.
func TestMemoryIsEstimated(t *testing.T) {
	const goroutines, samples = 1000, 200
	b := NewBuilder(testHeader())
	b.meter.budget = memory.NewBudget(1 << 40)
	var changes []Change
	for i := range goroutines {
		fixture.Check(t, b.newGoroutine(Goroutine{ID: int64(i), Start: -1}))
		changes = append(changes, Change{Goroutine: GoroutineID(i)})
	}
	for i := range samples {
		for g := range changes {
			changes[g].State = State{Stack: NoStack, Run: RunState(i%2) + Running}
		}
		fixture.Check(t, b.Sample(Sample{}, changes))
		fixture.Check(t, b.charge())
	}
	perRun := float64(b.meter.taken) / float64(goroutines*samples)
	if perRun < 12 || perRun > 16 {
		t.Errorf("%.1f bytes a run, want 12 to 16", perRun)
	}
}
