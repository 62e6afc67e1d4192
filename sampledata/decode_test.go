package sampledata

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// foreignFrame makes a frame as sampledata.proto describes it, without this package's code.
func foreignFrame(t *testing.T, tag string, records ...proto.Message) []byte {
	t.Helper()
	var content strings.Builder
	for _, r := range records {
		fixture.Must(protodelim.MarshalTo(&content, r))(t)
	}
	z := fixture.Must(zstd.NewWriter(nil))(t)
	compressed := z.EncodeAll([]byte(content.String()), nil)
	frame := make([]byte, 28)
	binary.LittleEndian.PutUint32(frame, 0x184D2A5C)
	binary.LittleEndian.PutUint32(frame[4:], 20)
	copy(frame[8:], tag)
	binary.LittleEndian.PutUint32(frame[12:], uint32(len(compressed)))
	binary.LittleEndian.PutUint32(frame[16:], uint32(content.Len()))
	binary.LittleEndian.PutUint32(frame[20:], uint32(len(records)))
	binary.LittleEndian.PutUint32(frame[24:], crc32.Checksum(frame[8:24], crc32.MakeTable(crc32.Castagnoli)))
	return append(frame, compressed...)
}

func data(kind any) *pb.DataRecord {
	r := &pb.DataRecord{}
	switch m := kind.(type) {
	case *pb.Header:
		r.Kind = &pb.DataRecord_Header{Header: m}
	case *pb.Functions:
		r.Kind = &pb.DataRecord_Functions{Functions: m}
	case *pb.Nodes:
		r.Kind = &pb.DataRecord_Nodes{Nodes: m}
	case *pb.Goroutines:
		r.Kind = &pb.DataRecord_Goroutines{Goroutines: m}
	case *pb.LabelSet:
		r.Kind = &pb.DataRecord_LabelSet{LabelSet: m}
	case *pb.HolderSet:
		r.Kind = &pb.DataRecord_HolderSet{HolderSet: m}
	case *pb.Modes:
		r.Kind = &pb.DataRecord_Modes{Modes: m}
	case *pb.Changes:
		r.Kind = &pb.DataRecord_Changes{Changes: m}
	case *pb.Sample:
		r.Kind = &pb.DataRecord_Sample{Sample: m}
	case *pb.LockNames:
		r.Kind = &pb.DataRecord_LockNames{LockNames: m}
	case *pb.Warning:
		r.Kind = &pb.DataRecord_Warning{Warning: m}
	case *pb.End:
		r.Kind = &pb.DataRecord_End{End: m}
	}
	return r
}

func varints(list ...uint64) (b []byte) {
	for _, n := range list {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// foreignFiles returns the files of a recording of two
// goroutines with one sample, followed by further records.
func foreignFiles(t *testing.T, further ...proto.Message) (texts, samples []byte) {
	texts = foreignFrame(t, "CPST",
		&pb.StringsRecord{Kind: &pb.StringsRecord_Header{Header: &pb.StringsHeader{FormatVersion: 1, StartSeconds: 1e9}}},
		&pb.StringsRecord{Kind: &pb.StringsRecord_Texts{Texts: &pb.Texts{Text: [][]byte{[]byte("main.main"), []byte("main.go"), []byte("lock"), []byte("n")}}}})
	records := []proto.Message{
		data(&pb.Header{FormatVersion: 1, StartSeconds: 1e9, Command: []uint32{2, 3}}),
		data(&pb.Functions{Name: []uint32{1}, File: []uint32{2}, Line: []uint32{7}}),
		data(&pb.Nodes{Parent: []uint32{0, 1}, Function: []uint32{0, 0}, Line: []uint32{8, 9}, Inlined: []bool{false, true}}),
		data(&pb.Goroutines{
			Id: []int64{5, -2}, Start: []uint32{1, 0}, SiteFunction: []uint32{0, 1}, SiteFile: []uint32{0, 2}, SiteLine: []uint32{0, 4},
			Parent: []int64{0, 5}, Kind: []uint32{0, 3},
		}),
		data(&pb.LabelSet{Key: []uint32{2}, Value: []uint32{1}}),
		data(&pb.HolderSet{Goroutine: []uint32{1, 1}}),
		data(&pb.Modes{Run: []pb.RunState{1, 5}, Torn: []bool{false, true}, Priority: []int32{0, -3}, Labels: []uint32{0, 1}, Reason: []uint32{0, 3}}),
		data(&pb.Changes{
			Goroutine: []int64{1, -1}, Stack: []uint32{2, 0}, Mode: []uint32{2, 1},
			LockRow: []uint32{1}, LockAddress: []uint64{16}, LockHolders: []uint32{1}, LockEvidence: []pb.Evidence{2},
		}),
		data(&pb.Sample{Time: 10, Halt: 3, Processors: []uint32{2, 1, 0}}),
	}
	return texts, append(foreignFrame(t, "CPSD", records...), foreignFrame(t, "CPSD", append(further, data(&pb.Warning{Kind: 2, Count: 1}))...)...)
}

func TestForeignWriter(t *testing.T) {
	texts, samples := foreignFiles(t, data(&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{0}, Mode: []uint32{0}}), data(&pb.Sample{
		Time: 20, Values: varints(2, 1<<64-1, 2, 9, 2, 0x3ff0000000000000, 2, 3),
		Monitors: []*pb.Monitor{{Name: 1}, {Name: 2, Kind: 1, Layer: 3}, {Name: 3, Kind: 1, Real: true}, {Name: 4, Kind: 2}},
	}), data(&pb.Modes{Run: []pb.RunState{2}, Torn: []bool{false}, Priority: []int32{0}, Labels: []uint32{0}, Reason: []uint32{0}, NoCpu: []bool{true}}),
		data(&pb.Changes{Goroutine: []int64{1}, Stack: []uint32{1}, Mode: []uint32{3}}),
		data(&pb.Sample{Values: varints(2, 2, 3, 2, 0x8000000000000000, 2, 1)}),
		data(&pb.LockNames{Address: []uint64{16, 16}, First: []uint32{0, 2}, Name: []uint32{3, 1}}))
	got := fixture.Must(open(texts, samples))(t)
	want, err := ReadText(strings.NewReader(`cpprof recording 1
start 2001-09-09T01:46:40Z
command main.go lock
function f0 main.main file=main.go line=7
node n0 f0 line=8
node n1 f0 under=n0 line=9 inlined
goroutine g0 5 start=f0
goroutine g1 3 site=main.main site-file=main.go site-line=4 parent=5 system gc
labels l1 main.go=main.main
holders h1 g0 g1
sample 10ns halt=3ns processors=g0,idle,system
 g0 running -
 g1 blocked n1 reason=lock lock=0x10 holders=h1 evidence=ambiguous labels=l1 priority=-3 torn
lock 0x10 lock
monitor m0 main.main counter
monitor m1 main.go level layer=kernel
monitor m2 lock level real
monitor m3 n nominal
sample 30ns
 g0 gone
 m0 value=9223372036854775808
 m1 value=-5
 m2 value=1
 m3 value=lock
sample 30ns
 g1 detached n0 no-cpu
 m0 value=9223372036854775809
 m1 unmeasured
 m2 value=-1
 m3 value=main.main
lock 0x10 main.main from=2
warning main.go 1 ""`))
	fixture.Check(t, err)
	equal(t, got, want)
}

// Each of these is the first record of the second frame. Reading
// stops there, and the recording has everything before it.
func TestBadRecords(t *testing.T) {
	const far = 1 << 31
	one := []*pb.Monitor{{Name: 1}}
	tests := []struct {
		record any
		want   string
	}{
		{nil, "unknown kind of record: a newer cpprof may know it"},
		{&pb.Header{}, "a second header"},
		{&pb.Functions{Name: []uint32{1}}, "columns of 1 and 0 rows"},
		{&pb.Functions{Name: []uint32{5}, File: []uint32{0}, Line: []uint32{0}}, "string 5 is none of the 5 strings"},
		{&pb.Functions{Name: []uint32{far}, File: []uint32{0}, Line: []uint32{0}}, "string 2147483648 is none of the 5 strings"},
		{&pb.Functions{Name: []uint32{0}, File: []uint32{0}, Line: []uint32{0}}, "function 1: function without a name"},
		{&pb.Functions{Name: []uint32{3}, File: []uint32{0}, Line: []uint32{far}}, "function 1: negative line -2147483648"},
		{&pb.Functions{Name: []uint32{1}, File: []uint32{2}, Line: []uint32{7}}, "function 1 is the same as function 0"},
		{&pb.Nodes{Parent: []uint32{3}, Function: []uint32{0}, Line: []uint32{0}, Inlined: []bool{false}}, "node 2: its parent lies 3 nodes back"},
		{&pb.Nodes{Parent: []uint32{2}, Function: []uint32{far}, Line: []uint32{0}, Inlined: []bool{false}}, "node 2: function -2147483648 is none of the 1 functions"},
		{&pb.Goroutines{Id: []int64{1}, Start: []uint32{0}, SiteFunction: []uint32{0}, SiteFile: []uint32{0}, SiteLine: []uint32{0}, Parent: []int64{0}, Kind: []uint32{4}}, "goroutine of unknown kind 4"},
		{&pb.Goroutines{Id: []int64{1}, Start: []uint32{2}, SiteFunction: []uint32{0}, SiteFile: []uint32{0}, SiteLine: []uint32{0}, Parent: []int64{0}, Kind: []uint32{0}}, "goroutine 2: start function 1 is none of the 1 functions"},
		{&pb.LabelSet{}, "label set 2 is the same as label set 0"},
		{&pb.LabelSet{Key: []uint32{2, 2}, Value: []uint32{1, 1}}, `label keys "main.go" and "main.go" are not in ascending order`},
		{&pb.HolderSet{}, "holder set 2 is the same as holder set 0"},
		{&pb.HolderSet{Goroutine: []uint32{1, 0}}, "holders 0 and 0 are not in ascending order"},
		{&pb.HolderSet{Goroutine: []uint32{0}}, "holder -1 is no goroutine"},
		{&pb.HolderSet{Goroutine: []uint32{far, far}}, "holder 4294967295 is no goroutine"},
		{&pb.HolderSet{Goroutine: []uint32{3}}, "holder 2 is none of the 2 goroutines"},
		{&pb.LockNames{Address: []uint64{1}}, "columns of 1 and 0 rows"},
		{&pb.LockNames{Address: []uint64{1}, First: []uint32{0}, Name: []uint32{5}}, "string 5 is none of the 5 strings"},
		{&pb.LockNames{Address: []uint64{1}, First: []uint32{far}, Name: []uint32{1}}, "name of the lock at 0x1: it begins at sample -2147483648, but there are 1"},
		{&pb.LockNames{Address: []uint64{1, 1}, First: []uint32{0, 1}, Name: []uint32{1, 1}}, `name of the lock at 0x1: it is "main.main" already`},
		{&pb.Modes{Run: []pb.RunState{6}, Torn: []bool{false}, Priority: []int32{0}, Labels: []uint32{0}, Reason: []uint32{0}}, "unknown run state 6: a newer cpprof may know it"},
		{&pb.Modes{Run: []pb.RunState{-1}, Torn: []bool{false}, Priority: []int32{0}, Labels: []uint32{0}, Reason: []uint32{0}}, "unknown run state -1: a newer cpprof may know it"},
		{&pb.Modes{Run: []pb.RunState{1}, Torn: []bool{false}, Priority: []int32{0}, Labels: []uint32{0}, Reason: []uint32{0}, NoCpu: []bool{false, true}}, "columns of 1 and 2 rows"},
		{&pb.Changes{Goroutine: []int64{1 << 40}, Stack: []uint32{0}, Mode: []uint32{0}}, "change of 1099511627776, which is no goroutine"},
		{&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{0}, Mode: []uint32{3}}, "mode 3 is none of the 2 modes"},
		{&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{0}, Mode: []uint32{1}, LockRow: []uint32{1}}, "columns of 1 and 0 rows"},
		{&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{0}, Mode: []uint32{1}, LockRow: []uint32{2}, LockAddress: []uint64{0}, LockHolders: []uint32{0}, LockEvidence: []pb.Evidence{0}}, "lock of row 1, which has no goroutine with a state"},
		{&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{0}, Mode: []uint32{1}, LockRow: []uint32{1}, LockAddress: []uint64{0}, LockHolders: []uint32{0}, LockEvidence: []pb.Evidence{9}}, "unknown evidence 9: a newer cpprof may know it"},
		{&pb.Sample{Time: 1 << 63}, "sample 1: negative time -9223372036854775798"},
		{&pb.Sample{Halt: 1 << 63}, "sample 1: negative halt -9223372036854775808"},
		{&pb.Sample{Processors: []uint32{4}}, "sample 1: processor 0 runs 2, which is none of the 2 goroutines"},
		{&pb.Sample{Monitors: []*pb.Monitor{{}}}, "monitor 0: no name"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 9}}}, "string 9 is none of the 5 strings"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1, Layer: -1}}}, "unknown monitor layer -1: a newer cpprof may know it"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1, Kind: 3}}}, "unknown monitor kind 3: a newer cpprof may know it"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1}, {Name: 1}}}, "monitor 1 is the same as monitor 0"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1}, {Name: 1, Kind: 1}}}, "monitor 1: it has another definition already, as monitor 0"},
		{&pb.Sample{Values: varints(2, 1)}, "value of monitor 0, which is none of the 0 monitors"},
		{&pb.Sample{Monitors: one, Values: varints(2, 1, 1, 1)}, "a second value of monitor 0, or a monitor before it"},
		{&pb.Sample{Monitors: one, Values: varints(1 << 40)}, "value of monitor 549755813887, which is none of the 1 monitors"},
		{&pb.Sample{Monitors: one, Values: varints(1<<64 - 1)}, "value of monitor 9223372036854775806, which is none of the 1 monitors"},
		{&pb.Sample{Monitors: one, Values: varints(2)}, "values that end within a number, or with one beyond 64 bits"},
		{&pb.Sample{Monitors: one, Values: []byte{2, 0x80}}, "values that end within a number, or with one beyond 64 bits"},
		{&pb.Sample{Monitors: one, Values: bytes.Repeat([]byte{0xff}, 11)}, "values that end within a number, or with one beyond 64 bits"},
		{&pb.Sample{Monitors: one, Values: varints(3)}, "value of monitor 0: it did not change"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1, Real: true}}, Values: varints(2, 0x7ff8000000000001)}, "value of monitor 0: NaN is no value: leave out what was not measured"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1, Kind: 2}}, Values: varints(2, 1<<32)}, "value of monitor 0: word 4294967296 is none of the 5 strings"},
		{&pb.Sample{Monitors: []*pb.Monitor{{Name: 1, Unmeasured: 2}}, Values: varints(2, 1)}, "value of monitor 0: it has values, but is not measured: main.go"},
		{&pb.Warning{Count: 1}, `warning of kind "", counted 1 times`},
		{&pb.Warning{Kind: 1, Count: -1}, `warning of kind "main.main", counted -1 times`},
		{&pb.End{Cause: 7}, "unknown end cause 7: a newer cpprof may know it"},
		{&pb.End{Time: far << 32}, "end: negative time -9223372036854775808"},
	}
	for _, test := range tests {
		got, err := open(foreignFiles(t, data(test.record)))
		if err != nil {
			t.Errorf("%s: %v", test.want, err)
			continue
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s: %v", test.want, err)
		}
		want := "reading sample data file r.cpprof/SampleData: record 10: " + test.want + "; the rest of the file is left out, at most "
		if got.Samples.Len() != 1 || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0].Message, want) {
			t.Errorf("got %d samples and %+v, want %s", got.Samples.Len(), got.Warnings, want)
		}
	}
}

// If only a refused sample has a word, the word is not in the recording.
func TestWordOfBadSample(t *testing.T) {
	nominal := []*pb.Monitor{{Name: 1, Kind: 2}, {Name: 2}}
	got, err := open(foreignFiles(t, data(&pb.Sample{Monitors: nominal, Values: varints(2, 1, 2, 5)}), data(&pb.Sample{Values: varints(2, 2, 3, 3)})))
	fixture.Check(t, err)
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	if got.Samples.Len() != 2 || len(got.Series[0].Words) != 1 || len(got.Warnings) != 1 {
		t.Errorf("%d samples, series %+v, warnings %+v", got.Samples.Len(), got.Series, got.Warnings)
	}
}

// Errors in the changes of a sample may be found at the end of the sample.
func TestBadSampleOfGoodChanges(t *testing.T) {
	change := data(&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{3}, Mode: []uint32{1}})
	for want, records := range map[string][]proto.Message{
		"record 11: sample 1: goroutine 0: stack 2 is none of the 2 nodes":      {change, data(&pb.Sample{})},
		"record 12: sample 1: goroutine 0 changes twice in one sample":          {data(&pb.Changes{Goroutine: []int64{0}, Stack: []uint32{0}, Mode: []uint32{0}}), change, data(&pb.Sample{})},
		"record 11: sample 1: processor 0 runs goroutine 1, which has no state": {data(&pb.Changes{Goroutine: []int64{1}, Stack: []uint32{0}, Mode: []uint32{0}}), data(&pb.Sample{Processors: []uint32{3}})},
		"record 11: record after the end":                                       {data(&pb.End{})},
	} {
		got := fixture.Must(open(foreignFiles(t, records...)))(t)
		if got.Samples.Len() != 1 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, want) {
			t.Errorf("got %d samples and %+v, want %s", got.Samples.Len(), got.Warnings, want)
		}
	}
}

func TestBadHeaders(t *testing.T) {
	for want, h := range map[string]*pb.Header{
		"format version 2, but this cpprof reads 1: use the version that recorded it, or a newer one": {FormatVersion: 2},
		"record 1: string 9 is none of the 1 strings":                                                 {FormatVersion: 1, Os: 9},
		"record 1: start with -1 nanoseconds":                                                         {FormatVersion: 1, StartNanos: -1},
		"record 1: start time in the year 292277026596: want 1 to 9999":                               {FormatVersion: 1, StartSeconds: 1<<63 - 1},
		"record 1: negative pid -4":                                                                   {FormatVersion: 1, Pid: -4},
		"put the original file back":                                                                  {FormatVersion: 1, StartSeconds: 5},
	} {
		texts := foreignFrame(t, "CPST", &pb.StringsRecord{Kind: &pb.StringsRecord_Header{Header: &pb.StringsHeader{FormatVersion: 1}}})
		_, err := open(texts, foreignFrame(t, "CPSD", data(h)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
