package interchange

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A location is a place in a program: a line of a function. If calls were
// inlined there, the lines of their callers follow.
type location struct {
	address uint64
	lines   []locationLine
}

type locationLine struct {
	function uint64
	line     int64
}

// locations numbers the locations by their ids, which mostly count up from 1.
type locations struct {
	small   []int32 // by id: 1 + its number, 0 for none
	large   map[uint64]int32
	list    []location
	defined []bool
	counted int
}

// smallIDs limits the ids in a slice.
const smallIDs = 1 << 20

func (l *locations) number(id uint64) int32 {
	if id < uint64(len(l.small)) && l.small[id] > 0 {
		return l.small[id] - 1
	}
	if n, ok := l.large[id]; ok {
		return n
	}
	n := int32(len(l.list))
	l.list, l.defined = append(l.list, location{}), append(l.defined, false)
	switch {
	case id < smallIDs:
		if short := int(id) + 1 - len(l.small); short > 0 {
			l.small = append(l.small, make([]int32, short)...)
		}
		l.small[id] = n + 1
	case l.large == nil:
		l.large = map[uint64]int32{id: n}
	default:
		l.large[id] = n
	}
	return n
}

func (l *locations) define(id uint64, as location) error {
	n := l.number(id)
	if l.defined[n] {
		return fmt.Errorf("a second location with the id %d", id)
	}
	l.list[n], l.defined[n] = as, true
	return nil
}

// grown returns how many bytes the list has grown since the last call.
func (l *locations) grown() int {
	size := 40*len(l.list) + 40*len(l.large) + 4*len(l.small)
	more := size - l.counted
	l.counted = size
	return more
}

// A pprofTables turns the tables of a profile into a recording's.
type pprofTables struct {
	*pprofReader
	rec       *sampledata.Recording
	exactly   *exactly
	codes     map[sampledata.Function]sampledata.FunctionID
	functions map[uint64]sampledata.FunctionID
	frames    [][]frame // by location, the outermost first
	nodes     *contexts // of frames
	depth     []int32   // by node
	places    map[frame]int32
}

// A frame is a call as a node of a recording has it.
type frame struct {
	function sampledata.FunctionID
	line     int32
	inlined  bool
}

// recording makes the recording when everything has been read.
func (p *pprofReader) recording() (*sampledata.Recording, error) {
	if len(p.types) == 0 {
		return nil, errors.New("it has no samples")
	}
	if p.numbers >= 0 && p.numbers != len(p.types) {
		return nil, fmt.Errorf("samples have %d values, but there are %d sample types",
			p.numbers, len(p.types))
	}
	t := &pprofTables{
		pprofReader: p, rec: newProfile(),
		codes:     make(map[sampledata.Function]sampledata.FunctionID),
		functions: make(map[uint64]sampledata.FunctionID), nodes: newContexts(),
		places: make(map[frame]int32),
	}
	for _, step := range []func() error{t.properties, t.types, t.functionTable,
		t.locationFrames, t.stackNodes, t.labelTable} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	t.rec.Profile.Values = p.values
	return t.rec, nil
}

// newProfile returns the recording of a profile that has nothing yet.
func newProfile() *sampledata.Recording {
	return &sampledata.Recording{
		LabelSets: [][]sampledata.Label{nil}, HolderSets: [][]sampledata.GoroutineID{nil},
		Profile: new(sampledata.Profile),
		End:     &sampledata.End{},
	}
}

// text returns the text of a number.
func (p *pprofReader) text(number uint64) (string, error) {
	if number >= uint64(len(p.texts)) {
		if number == 0 {
			return "", nil
		}
		return "", fmt.Errorf("text %d is none of the %d texts", number, len(p.texts))
	}
	return p.texts[number], nil
}

// types makes the quantities.
func (t *pprofTables) types() error {
	for i, vt := range t.pprofReader.types {
		name, err := t.text(vt.name)
		if err != nil {
			return err
		}
		unit, err := t.text(vt.unit)
		if err != nil {
			return err
		}
		q := t.exactly.Metrics[i]
		whole, err := q.whole()
		if err != nil {
			return err
		}
		t.rec.Profile.Quantities = append(t.rec.Profile.Quantities, sampledata.Quantity{
			Name: name, Unit: unit, Parts: q.Parts, Rest: q.Rest, Hits: q.Hits,
			Whole: whole, Part: q.Part, Rounded: q.Rounded,
		})
	}
	if err := t.times(); err != nil {
		return err
	}
	name, err := t.text(t.byDefault)
	if err != nil {
		return err
	}
	t.rec.Profile.Show(name)
	return nil
}

// times notes when the profile was taken, and how often.
func (t *pprofTables) times() (err error) {
	p := t.rec.Profile
	if t.start != 0 {
		p.Start = time.Unix(0, t.start)
	}
	p.Duration, p.Period.Every = time.Duration(t.duration), t.period
	if p.Period.Name, err = t.text(t.periodType.name); err == nil {
		p.Period.Unit, err = t.text(t.periodType.unit)
	}
	return err
}

func (t *pprofTables) functionTable() error {
	for _, f := range t.pprofReader.functions {
		name, err := t.text(f.name)
		if err != nil {
			return err
		}
		file, err := t.text(f.file)
		if err != nil {
			return err
		}
		if _, twice := t.functions[f.id]; twice {
			return fmt.Errorf("a second function with the id %d", f.id)
		}
		if name == "" {
			t.functions[f.id] = -1
			continue
		}
		t.functions[f.id] = t.code(
			sampledata.Function{Name: name, File: file, Line: clampLine(f.line)})
	}
	return nil
}

// code returns the code of a function.
func (t *pprofTables) code(f sampledata.Function) sampledata.FunctionID {
	id, ok := t.codes[f]
	if !ok {
		id = sampledata.FunctionID(len(t.rec.Functions))
		t.codes[f] = id
		t.rec.Functions = append(t.rec.Functions, f)
	}
	return id
}

// clampLine returns a line that a recording can have; 0, which is not known,
// for others.
func clampLine(line int64) int32 {
	if line < 0 || line > math.MaxInt32 {
		return 0
	}
	return int32(line)
}

// locationFrames finds the frames of each location, the outermost first. With
// inlining there are several. A location without a function has its address as
// its name.
func (t *pprofTables) locationFrames() error {
	for i, l := range t.locations.list {
		if !t.locations.defined[i] {
			return fmt.Errorf("a sample has a location that is not in the profile")
		}
		var frames []frame
		for _, line := range slices.Backward(l.lines) {
			f, ok := t.functions[line.function]
			if !ok && line.function != 0 {
				return fmt.Errorf("function %d is not in the profile", line.function)
			}
			if ok && f >= 0 {
				frames = append(frames, frame{f, clampLine(line.line), len(frames) > 0})
			}
		}
		if len(frames) == 0 {
			frames = []frame{{function: t.code(
				sampledata.Function{Name: fmt.Sprintf("%#x", l.address)})}}
		}
		t.frames = append(t.frames, frames)
	}
	return nil
}

// place returns the number of a frame, for contexts.
func (t *pprofTables) place(f frame) int32 {
	n, ok := t.places[f]
	if !ok {
		n = int32(len(t.places))
		t.places[f] = n
	}
	return n
}

// stackNodes makes the nodes of all contexts, and the stacks of the samples.
// Different locations may be one frame: there are then fewer nodes than
// contexts. Inlined calls make more.
func (t *pprofTables) stackNodes() error {
	places := make([][]int32, len(t.frames))
	for i, frames := range t.frames {
		for _, f := range frames {
			places[i] = append(places[i], t.place(f))
		}
	}
	node := make([]sampledata.NodeID, t.contexts.len())
	for c := range node {
		at := sampledata.NoStack
		if above := t.contexts.above[c]; above >= 0 {
			at = node[above]
		}
		l := t.contexts.place[c]
		for i, f := range t.frames[l] {
			if t.contexts.above[c] < 0 && i == 0 && t.isRoot(f) {
				continue
			}
			var err error
			if at, err = t.node(at, f, places[l][i]); err != nil {
				return err
			}
		}
		node[c] = at
	}
	for i, c := range t.stacks {
		t.stacks[i] = int32(sampledata.NoStack)
		if c >= 0 {
			t.stacks[i] = int32(node[c])
		}
	}
	t.rec.Profile.Stacks = asNodes(t.stacks)
	return t.budget.Fits(int64(len(t.rec.Nodes)) * contextMemory)
}

// isRoot reports whether an outermost frame is the root of the tree that cpprof
// wrote.
func (t *pprofTables) isRoot(f frame) bool {
	root := t.rec.Profile.Root
	return root != "" && t.rec.Functions[f.function].Name == root
}

func (t *pprofTables) node(above sampledata.NodeID, f frame,
	place int32) (sampledata.NodeID, error) {
	n := t.nodes.call(int32(above), place)
	if int(n) < len(t.rec.Nodes) {
		return sampledata.NodeID(n), nil
	}
	depth := int32(1)
	if above != sampledata.NoStack {
		depth += t.depth[above]
	}
	if depth > sampledata.MaxDepth {
		return 0, errTooDeep
	}
	t.depth = append(t.depth, depth)
	t.rec.Nodes = append(t.rec.Nodes,
		sampledata.Node{Parent: above, Function: f.function, Line: f.line, Inlined: f.inlined})
	if len(t.rec.Nodes)%1024 == 0 {
		return sampledata.NodeID(n), t.budget.Fits(int64(len(t.rec.Nodes)) * contextMemory)
	}
	return sampledata.NodeID(n), nil
}

func asNodes(list []int32) []sampledata.NodeID {
	nodes := make([]sampledata.NodeID, len(list))
	for i, n := range list {
		nodes[i] = sampledata.NodeID(n)
	}
	return nodes
}

// labelTable makes the sets of labels. Numbers become texts with their unit.
func (t *pprofTables) labelTable() error {
	codes := make([]sampledata.LabelSetID, len(t.labelSets))
	b := sampledata.NewBuilder(sampledata.Header{})
	for i, labels := range t.labelSets {
		var set []sampledata.Label
		for _, l := range labels {
			key, err := t.text(l.key)
			if err != nil {
				return err
			}
			value, err := t.labelValue(l)
			if err != nil {
				return err
			}
			set = append(set, sampledata.Label{Key: key, Value: value})
		}
		codes[i] = b.LabelSet(set)
	}
	t.rec.LabelSets = b.Recording().LabelSets
	t.rec.Profile.Labels = make([]sampledata.LabelSetID, len(t.labels))
	for i, set := range t.labels {
		t.rec.Profile.Labels[i] = codes[set]
	}
	return nil
}

func (t *pprofTables) labelValue(l pprofLabel) (string, error) {
	if l.text != 0 {
		return t.text(l.text)
	}
	unit, err := t.text(l.unit)
	if err != nil || l.unit == 0 {
		return strconv.FormatInt(l.number, 10), err
	}
	return strconv.FormatInt(l.number, 10) + " " + unit, nil
}
