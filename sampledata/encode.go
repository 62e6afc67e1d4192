package sampledata

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

const (
	formatVersion = 1
	maxText       = 1 << 20 // bytes of a string
	maxRows       = 4096    // of a record
	maxTexts      = 64 << 10
)

// An encoder turns the parts of a recording into the records of
// the two files. Its caller assigns their codes, in order.
type encoder struct {
	texts, data frameWriter

	strings map[string]uint32
	modes   map[mode]uint32
	nodes   uint32 // number of encoded nodes

	// Rows for the next records.
	newTexts      *pb.Texts
	textBytes     int
	newFunctions  *pb.Functions
	newNodes      *pb.Nodes
	newGoroutines *pb.Goroutines
	lastID        int64
	newModes      *pb.Modes
	newLockNames  *pb.LockNames
	newMonitors   []*pb.Monitor // for the next sample
	values        []byte        // of the last sample

	err error // the first error; nothing is encoded after it
}

// A mode is a state without its stack and its lock.
type mode struct {
	run      RunState
	noCPU    bool
	torn     bool
	priority int32
	labels   LabelSetID
	reason   string
}

func newEncoderOf(texts, data io.Writer) (*encoder, error) {
	z, err := newEncoder()
	if err != nil {
		return nil, err
	}
	return &encoder{
		texts:         frameWriter{tag: stringsTag, out: texts, encoder: z},
		data:          frameWriter{tag: samplesTag, out: data, encoder: z},
		strings:       map[string]uint32{"": 0},
		modes:         make(map[mode]uint32),
		newTexts:      &pb.Texts{},
		newFunctions:  &pb.Functions{},
		newNodes:      &pb.Nodes{},
		newGoroutines: &pb.Goroutines{},
		newModes:      &pb.Modes{},
		newLockNames:  &pb.LockNames{},
	}, nil
}

// code returns the code of a string.
func (e *encoder) code(s string) uint32 {
	if c, ok := e.strings[s]; ok {
		return c
	}
	if len(s) > maxText {
		e.fail(fmt.Errorf("string of %d bytes: at most %d are possible", len(s), maxText))
		return 0
	}
	c := uint32(len(e.strings))
	e.strings[s] = c
	e.newTexts.Text = append(e.newTexts.Text, []byte(s))
	e.textBytes += len(s) + 4
	if e.textBytes > maxTexts {
		e.putTexts()
	}
	return c
}

func (e *encoder) fail(err error) { e.err = cmp.Or(e.err, err) }

// put adds a record to SampleData. The records that it refers to
// must have been added before.
func (e *encoder) put(r *pb.DataRecord) {
	if e.err == nil {
		e.fail(e.data.add(r))
	}
	if len(e.data.content) >= flushContent {
		e.write()
	}
}

func (e *encoder) putTexts() {
	if len(e.newTexts.Text) == 0 || e.err != nil {
		return
	}
	e.fail(e.texts.add(&pb.StringsRecord{Kind: &pb.StringsRecord_Texts{Texts: e.newTexts}}))
	e.newTexts = &pb.Texts{}
	e.textBytes = 0
	if len(e.texts.content) >= flushContent {
		e.fail(e.texts.flush())
	}
}

// write writes the records so far to the files, strings first.
func (e *encoder) write() {
	e.putTexts()
	if e.err == nil {
		e.fail(e.texts.flush())
	}
	if e.err == nil {
		e.fail(e.data.flush())
	}
}

func (e *encoder) header(h *Header) {
	seconds, nanos := h.Start.Unix(), int32(h.Start.Nanosecond())
	e.fail(e.texts.add(&pb.StringsRecord{Kind: &pb.StringsRecord_Header{Header: &pb.StringsHeader{
		FormatVersion: formatVersion, StartSeconds: seconds, StartNanos: nanos,
	}}}))
	m := &pb.Header{
		FormatVersion: formatVersion, StartSeconds: seconds, StartNanos: nanos,
		Executable: e.code(h.Executable), Pid: h.PID, GoVersion: e.code(h.GoVersion),
		Os: e.code(h.OS), Arch: e.code(h.Arch),
		Gomaxprocs: h.GOMAXPROCS, Clock: e.code(h.Clock),
		SamplerVersion: e.code(h.Sampler.Version), Backend: e.code(h.Sampler.Backend),
		RateHz: h.Sampler.RateHz,
		Jitter: h.Sampler.Jitter, MaxOverhead: h.Sampler.MaxOverhead, MaxCpu: h.Sampler.MaxCPU,
		Wakes: e.code(h.Sampler.Wakes), Container: e.code(h.Container),
	}
	for _, c := range h.Command {
		m.Command = append(m.Command, e.code(c))
	}
	e.put(&pb.DataRecord{Kind: &pb.DataRecord_Header{Header: m}})
}

func (e *encoder) function(f Function) {
	m := e.newFunctions
	m.Name = append(m.Name, e.code(f.Name))
	m.File = append(m.File, e.code(f.File))
	m.Line = append(m.Line, uint32(f.Line))
	if len(m.Name) == maxRows {
		e.putNew()
	}
}

func (e *encoder) node(n Node) {
	m := e.newNodes
	parent := uint32(0)
	if n.Parent != NoStack {
		parent = e.nodes - uint32(n.Parent)
	}
	e.nodes++
	m.Parent = append(m.Parent, parent)
	m.Function = append(m.Function, uint32(n.Function))
	m.Line = append(m.Line, uint32(n.Line))
	m.Inlined = append(m.Inlined, n.Inlined)
	if len(m.Parent) == maxRows {
		e.putNew()
	}
}

// The bits of a goroutine's kind.
const (
	kindSystem = 1
	kindGC     = 2
)

func (e *encoder) goroutine(g Goroutine) {
	m := e.newGoroutines
	kind := uint32(0)
	if g.System {
		kind |= kindSystem
	}
	if g.GC {
		kind |= kindGC
	}
	m.Id = append(m.Id, g.ID-e.lastID)
	e.lastID = g.ID
	m.Start = append(m.Start, uint32(g.Start+1))
	m.SiteFunction = append(m.SiteFunction, e.code(g.Site.Function))
	m.SiteFile = append(m.SiteFile, e.code(g.Site.File))
	m.SiteLine = append(m.SiteLine, uint32(g.Site.Line))
	m.Parent = append(m.Parent, g.Parent)
	m.Kind = append(m.Kind, kind)
	if len(m.Id) == maxRows {
		e.putNew()
	}
}

// putNew adds the things that got codes since the last call,
// each kind after the kinds that it refers to.
func (e *encoder) putNew() {
	if m := e.newFunctions; len(m.Name) > 0 {
		e.newFunctions = &pb.Functions{}
		e.put(&pb.DataRecord{Kind: &pb.DataRecord_Functions{Functions: m}})
	}
	if m := e.newNodes; len(m.Parent) > 0 {
		e.newNodes = &pb.Nodes{}
		e.put(&pb.DataRecord{Kind: &pb.DataRecord_Nodes{Nodes: m}})
	}
	if m := e.newGoroutines; len(m.Id) > 0 {
		e.newGoroutines = &pb.Goroutines{}
		e.lastID = 0
		e.put(&pb.DataRecord{Kind: &pb.DataRecord_Goroutines{Goroutines: m}})
	}
	if m := e.newModes; len(m.Run) > 0 {
		e.newModes = &pb.Modes{}
		if !slices.Contains(m.NoCpu, true) {
			m.NoCpu = nil
		}
		e.put(&pb.DataRecord{Kind: &pb.DataRecord_Modes{Modes: m}})
	}
	if m := e.newLockNames; len(m.Address) > 0 {
		e.newLockNames = &pb.LockNames{}
		if slices.Max(m.Capacity) == 0 {
			m.Capacity = nil
		}
		e.put(&pb.DataRecord{Kind: &pb.DataRecord_LockNames{LockNames: m}})
	}
}

func (e *encoder) labelSet(set []Label) {
	m := &pb.LabelSet{}
	for _, l := range set {
		m.Key = append(m.Key, e.code(l.Key))
		m.Value = append(m.Value, e.code(l.Value))
	}
	e.put(&pb.DataRecord{Kind: &pb.DataRecord_LabelSet{LabelSet: m}})
}

func (e *encoder) lockName(n LockName) {
	m := e.newLockNames
	m.Address = append(m.Address, n.Address)
	m.First = append(m.First, uint32(n.First))
	m.Name = append(m.Name, e.code(n.Name))
	m.Capacity = append(m.Capacity, uint64(n.Capacity))
	if len(m.Address) == maxRows {
		e.putNew()
	}
}

func (e *encoder) holderSet(set []GoroutineID) {
	e.putNew()
	m := &pb.HolderSet{}
	last := GoroutineID(-1)
	for _, g := range set {
		m.Goroutine = append(m.Goroutine, uint32(g-last))
		last = g
	}
	e.put(&pb.DataRecord{Kind: &pb.DataRecord_HolderSet{HolderSet: m}})
}
