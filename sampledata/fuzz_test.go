package sampledata

import (
	"bytes"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// The bound is proportional to the file: it allows for the
// highest compression, and for the largest memory that a small
// record takes. The constant is for buffers that every file
// needs.
const (
	memoryPerByte = 8 << 10
	memoryAlways  = 32 << 20
)

// bounded runs f, and checks that it allocates memory in
// proportion to size.
func bounded(t *testing.T, size int, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > memoryAlways+memoryPerByte*uint64(size) {
		t.Errorf("%d bytes allocated for an input of %d bytes", got, size)
	}
}

// good checks a recording, and that it is the same after writing
// and reading it as files and as text.
func good(t *testing.T, r *Recording) {
	fixture.Check(t, r.Check())
	r.Stats()
	var b bytes.Buffer
	fixture.Check(t, WriteText(&b, r))
	again, err := ReadText(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	equal(t, again, r)
}

var oneEncoder = sync.OnceValues(newEncoder)

// frameOf returns a valid frame with the given records.
func frameOf(t testing.TB, tag string, content []byte) []byte {
	z := fixture.Must(oneEncoder())(t)
	records := uint32(0)
	for rest := content; len(rest) > 0; records++ {
		_, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			break
		}
		rest = rest[n:]
	}
	return appendFrame(nil, tag, content, max(1, records), z)
}

// contentOf returns the records of a file without its frames.
func contentOf(t testing.TB, tag string, file []byte, m proto.Message) []byte {
	z := fixture.Must(newDecoder())(t)
	defer z.Close()
	r := &frameReader{tag: tag, in: bytes.NewReader(file), size: int64(len(file)), left: int64(len(file)), decoder: z}
	var content []byte
	for r.next(m) == nil {
		b := fixture.Must(proto.Marshal(m))(t)
		content = protowire.AppendBytes(content, b)
		proto.Reset(m)
	}
	return content
}

// FuzzSampleData reads its input as a whole file, and as the
// records in valid frames.
func FuzzSampleData(f *testing.F) {
	texts, samples, want := twoMarkedFiles(f, &Marking{
		Proved: true, Whole: true, Goroutines: 2, Passes: 3,
		Groups: []MarkedGroup{{
			Verdict: Stuck, Wait: ForLock, Reason: "sync.Mutex.Lock", Count: 2, IDs: []int64{1, 7}, Kept: 8192,
			Calls: []Call{{Function: "main.work", File: "main.go", Line: 20}},
		}},
		Edges: []MarkedEdge{{From: 1, To: 7, At: 0xc000, Sure: true, Taken: "main.work"}},
	}, []CallTable{goodCalls()})
	if want.Marking == nil || len(want.Calls) == 0 {
		f.Fatal("the seed has no marking, or no calls")
	}
	content := contentOf(f, samplesTag, samples, &pb.DataRecord{})
	f.Add(samples)
	f.Add(samples[:len(samples)/2])
	f.Add(content)
	f.Add(content[:len(content)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, frameOf(t, samplesTag, b)} {
			var r *Recording
			bounded(t, len(file), func() { r, _ = open(texts, file) })
			if r != nil {
				good(t, r)
			}
		}
	})
}

// FuzzStrings does the same with the other file.
func FuzzStrings(f *testing.F) {
	texts, samples, _ := twoFiles(f)
	content := contentOf(f, stringsTag, texts, &pb.StringsRecord{})
	f.Add(texts)
	f.Add(texts[:len(texts)/2])
	f.Add(content)
	f.Add(content[:len(content)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, frameOf(t, stringsTag, b)} {
			var r *Recording
			bounded(t, len(file), func() { r, _ = open(file, samples) })
			if r != nil {
				good(t, r)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add(twoGoroutinesText)
	f.Add("cpprof recording 1")
	f.Add("cpprof recording 1\nlabels l1 \"a b\"=\"\\xff\" # x\nsample 1h0m0.5s processors=idle,system\nwarning k 1 \"\"")
	f.Add("cpprof recording 1\nlock 1 a from=0\nsample 0s\nlock 1 b from=1")
	f.Add("cpprof recording 1\ngoroutine g0 -1\nholders h1 g0\nsample 0s\ng0 blocked - holders=h1 evidence=ambiguous lock=017\nsample 0s\ng0 gone\nend exec")
	f.Add("cpprof recording 1\ngoroutine g0 1\ngoroutine g1 2\nsample 0s\ng0 detached - no-cpu\ng1 running - torn no-cpu\nsample 1s\ng0 detached -")
	f.Add("cpprof recording 1\nmonitor m0 a counter\nmonitor m1 b level real unit=s\nmonitor m2 c nominal layer=runtime\nmonitor m3 d level unmeasured=no\n" +
		"sample 0s\nm0 value=18446744073709551615\nm1 value=-Inf\nm2 value=\"\"\nsample 0s\nm0 value=0\nm1 unmeasured\nm2 value=x\nsample 0s\nm2 value=\"\"")
	f.Fuzz(func(t *testing.T, text string) {
		var r *Recording
		bounded(t, len(text), func() { r, _ = ReadText(bytes.NewReader([]byte(text))) })
		if r != nil {
			good(t, r)
		}
	})
}

// The seeds of the fuzz targets must pass the first checks;
// otherwise they test nothing else.
func TestSeedsAreRead(t *testing.T) {
	texts, samples, want := twoFiles(t)
	got, err := open(frameOf(t, stringsTag, contentOf(t, stringsTag, texts, &pb.StringsRecord{})),
		frameOf(t, samplesTag, contentOf(t, samplesTag, samples, &pb.DataRecord{})))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %+v", err, got)
	}
}

// Highly regular samples compress so well that the frame needs
// padding to be readable.
func TestRegularRecordingIsPadded(t *testing.T) {
	b := NewBuilder(testHeader())
	g := make([]GoroutineID, 2000)
	for i := range g {
		g[i] = b.Goroutine(Goroutine{ID: int64(i), Start: -1})
	}
	for i := range 50 {
		changes := make([]Change, len(g))
		for k := range g {
			changes[k] = Change{Goroutine: g[k], State: State{Stack: NoStack, Run: RunState(i % 2)}}
		}
		fixture.Check(t, b.Sample(Sample{}, changes))
	}
	want := b.Recording()
	name := t.TempDir()
	fixture.Check(t, want.Write(name))
	got := fixture.Must(Open(name))(t)
	equal(t, got, want)
}

// If a frame's header promises more content than its size
// allows, it is refused before anything is decompressed.
func TestBombIsRefused(t *testing.T) {
	_, samples, _ := twoFiles(t)
	z, err := newEncoder()
	fixture.Check(t, err)
	w := &frameWriter{tag: stringsTag, out: &bytes.Buffer{}, encoder: z}
	if err := w.add(&pb.StringsRecord{Kind: &pb.StringsRecord_Texts{Texts: &pb.Texts{Text: make([][]byte, 2<<20)}}}); err != nil {
		t.Fatal(err)
	}
	padded := appendFrame(nil, stringsTag, w.content, 1, z)
	compressed := z.EncodeAll(w.content, nil)
	bomb := append(append(padded[:4:4], 20, 0, 0, 0), padded[framePrefix:frameHeader]...)
	bomb = append(bomb, compressed...)
	bounded(t, len(bomb), func() {
		_, err = open(bomb, samples)
	})
	const want = "reading strings file r.cpprof/Strings: record 1: impossible lengths in the frame's header: without this record nothing can be read"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
