package sampledata

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// tables is the common part of Builder and Writer. It assigns
// codes, one to each thing, and checks that a sampler follows
// the rules of a recording. It keeps only what this needs: a
// Writer's memory does not grow with the number of goroutines
// that have ended.
type tables struct {
	sizes
	byFunction map[Function]FunctionID
	byNode     map[Node]NodeID
	byLabels   map[string]LabelSetID
	byHolders  map[string]HolderSetID
	byAddress  map[uint64]LockName // the latest name
	depth      []int16             // by node
	monitors   monitors
	probes     []Probe // the latest of each function
	calls      int     // number of timed ones
	marking    *Marking
	news       news // for the next sample

	samples int
	time    time.Duration // of the last sample
	ended   bool
	misuse  error // of a method that can't return it; the next sample returns it

	key     []byte
	labels  []Label
	holders []GoroutineID
	changes []Change
}

// news is what a Writer has to write with the next sample, or the end.
type news struct {
	probes  []Probe
	calls   []CallTable
	marking *Marking
}

var (
	errEnded = errors.New("the recording has been finished")
	errDepth = fmt.Errorf("stack of more than %d frames: cut it, and count it in a warning",
		MaxDepth)
)

func newTables() tables {
	return tables{
		sizes:      sizes{labelSets: 1, holderSets: 1}, // the empty ones
		byFunction: make(map[Function]FunctionID),
		byNode:     make(map[Node]NodeID),
		byLabels:   make(map[string]LabelSetID),
		byHolders:  make(map[string]HolderSetID),
		byAddress:  make(map[uint64]LockName),
	}
}

// function returns the code of f, and whether it is new; -1 if f
// breaks a rule.
func (t *tables) function(f Function) (id FunctionID, isNew bool) {
	if id, ok := t.byFunction[f]; ok {
		return id, false
	}
	if err := t.sizes.function(f); err != nil {
		return -1, t.misused("function %q: %w", f.Name, err)
	}
	id = FunctionID(t.functions)
	t.byFunction[f] = id
	t.functions++
	return id, true
}

// node returns the code of n, and whether it is new; NoStack if
// n breaks a rule.
func (t *tables) node(n Node) (id NodeID, isNew bool) {
	if id, ok := t.byNode[n]; ok {
		return id, false
	}
	if err := t.sizes.node(n); err != nil {
		return NoStack, t.misused("node: %w", err)
	}
	depth := int16(1)
	if n.Parent != NoStack {
		depth += t.depth[n.Parent]
	}
	if depth > MaxDepth {
		return NoStack, t.misused("node: %w", errDepth)
	}
	id = NodeID(t.nodes)
	t.byNode[n] = id
	t.depth = append(t.depth, depth)
	t.nodes++
	return id, true
}

// goroutine returns a new code; -1 if g breaks a rule.
func (t *tables) goroutine(g Goroutine) (id GoroutineID, isNew bool) {
	if err := t.sizes.goroutine(g); err != nil {
		return -1, t.misused("goroutine %d: %w", g.ID, err)
	}
	id = GoroutineID(t.goroutines)
	t.goroutines++
	return id, true
}

// labelSet returns the code of a set, which may be in any order.
// If the set is new, labelSet also returns it sorted. If two
// labels have the same key, the last one counts.
func (t *tables) labelSet(set []Label) (id LabelSetID, isNew []Label) {
	if len(set) == 0 {
		return 0, nil
	}
	t.labels = append(t.labels[:0], set...)
	slices.SortStableFunc(t.labels, func(a, b Label) int { return cmp.Compare(a.Key, b.Key) })
	sorted := t.labels[:0]
	for i, l := range t.labels {
		if i+1 == len(t.labels) || t.labels[i+1].Key != l.Key {
			sorted = append(sorted, l)
		}
	}
	t.key = t.key[:0]
	for _, l := range sorted {
		t.key = append(binary.AppendUvarint(t.key, uint64(len(l.Key))), l.Key...)
		t.key = append(binary.AppendUvarint(t.key, uint64(len(l.Value))), l.Value...)
	}
	if id, ok := t.byLabels[string(t.key)]; ok {
		return id, nil
	}
	id = LabelSetID(t.labelSets)
	t.byLabels[string(t.key)] = id
	t.labelSets++
	return id, slices.Clone(sorted)
}

// holderSet returns the code of a set, which may be in any
// order; 0 if the set breaks a rule. If the set is new,
// holderSet also returns it sorted.
func (t *tables) holderSet(set []GoroutineID) (id HolderSetID, isNew []GoroutineID) {
	if len(set) == 0 {
		return 0, nil
	}
	t.holders = append(t.holders[:0], set...)
	slices.Sort(t.holders)
	sorted := slices.Compact(t.holders)
	if err := t.sizes.holders(sorted); err != nil {
		t.misused("holder set: %w", err)
		return 0, nil
	}
	t.key = t.key[:0]
	for _, g := range sorted {
		t.key = binary.AppendUvarint(t.key, uint64(g))
	}
	if id, ok := t.byHolders[string(t.key)]; ok {
		return id, nil
	}
	id = HolderSetID(t.holderSets)
	t.byHolders[string(t.key)] = id
	t.holderSets++
	return id, slices.Clone(sorted)
}

// lockName reports whether n is a new name of a lock. It is
// false, too, if n breaks a rule.
func (t *tables) lockName(n LockName) (isNew bool) {
	last, named := t.byAddress[n.Address]
	if named && last.Name == n.Name && last.Capacity == n.Capacity {
		return false
	}
	var err error
	switch {
	case n.Name == "":
		err = errors.New("no name")
	case n.Capacity < 0:
		err = fmt.Errorf("a capacity of %d", n.Capacity)
	case n.First < 0 || int(n.First) > t.samples:
		err = fmt.Errorf("it begins at sample %d, but there are %d", n.First, t.samples)
	case named && n.First <= last.First:
		err = fmt.Errorf("it begins at sample %d, not after the one before it, at %d",
			n.First, last.First)
	}
	if err != nil {
		return t.misused("name of the lock at %#x: %w", n.Address, err)
	}
	t.byAddress[n.Address] = n
	return true
}

// probe replaces the probe of a function. It does nothing if the
// probe breaks a rule.
func (t *tables) probe(p Probe) {
	list, err := putProbe(t.probes, p)
	if err != nil {
		t.misused("%w", err)
		return
	}
	t.probes = list
	if t.news.probes, err = putProbe(t.news.probes, p); err != nil {
		t.misused("%w", err)
	}
}

// addCalls adds calls. It does nothing if they break a rule.
func (t *tables) addCalls(c CallTable) {
	n, err := countCalls(t.calls, &c)
	if err == nil {
		t.news.calls, err = addCalls(t.news.calls, c)
	}
	if err != nil {
		t.misused("%w", err)
		return
	}
	t.calls = n
}

// mark replaces the marking. It does nothing if the marking breaks a rule.
func (t *tables) mark(m *Marking) {
	if err := m.check(); err != nil {
		t.misused("%w", err)
		return
	}
	t.marking, t.news.marking = m, m
}

// misused keeps the first misuse until the next sample. It
// returns false, for "not new".
func (t *tables) misused(format string, args ...any) bool {
	if t.misuse == nil {
		t.misuse = fmt.Errorf(format, args...)
	}
	return false
}

// sample checks a sample and returns its real changes by
// ascending goroutine, in a slice that the next call overwrites.
// The function state returns what a goroutine did in the
// previous sample. If the sample breaks a rule, the tables stay
// as they are.
func (t *tables) sample(s *Sample, changes []Change,
	state func(GoroutineID) (State, bool)) ([]Change, error) {
	if t.ended {
		return nil, errEnded
	}
	if err := t.misuse; err != nil {
		t.misuse = nil
		return nil, err
	}
	if t.samples == maxSamples {
		return nil, fmt.Errorf("more than %d samples", maxSamples)
	}
	if err := t.sizes.sample(s); err != nil {
		return nil, err
	}
	if s.Time < t.time {
		return nil, fmt.Errorf("time %v is before that of the previous sample, %v", s.Time, t.time)
	}
	kept, err := t.realChanges(changes, state)
	if err != nil {
		return nil, err
	}
	for i, g := range s.Processors {
		if g >= 0 && !aliveAfter(g, kept, state) {
			return nil, fmt.Errorf("processor %d runs goroutine %d, which has no state", i, g)
		}
	}
	t.samples++
	t.time = s.Time
	return kept, nil
}

// end ends the recording.
func (t *tables) end(e *End) error {
	if t.ended {
		return errEnded
	}
	if err := e.check(); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	t.ended = true
	return nil
}

// realChanges sorts changes and leaves out those that change nothing.
func (t *tables) realChanges(changes []Change,
	state func(GoroutineID) (State, bool)) ([]Change, error) {
	t.changes = append(t.changes[:0], changes...)
	byGoroutine := func(a, b Change) int { return cmp.Compare(a.Goroutine, b.Goroutine) }
	if !slices.IsSortedFunc(t.changes, byGoroutine) {
		slices.SortFunc(t.changes, byGoroutine)
	}
	kept := t.changes[:0]
	last := GoroutineID(-1)
	for _, c := range t.changes {
		if c.Goroutine < 0 || int(c.Goroutine) >= t.goroutines {
			return nil, fmt.Errorf("change of %d, which is none of the %d goroutines",
				c.Goroutine, t.goroutines)
		}
		if c.Goroutine == last {
			return nil, fmt.Errorf("goroutine %d changes twice in one sample", c.Goroutine)
		}
		last = c.Goroutine
		old, alive := state(c.Goroutine)
		if c.Gone {
			if alive {
				kept = append(kept, Change{Goroutine: c.Goroutine, Gone: true})
			}
			continue
		}
		if err := t.sizes.state(c.State); err != nil {
			return nil, fmt.Errorf("goroutine %d: %w", c.Goroutine, err)
		}
		if !alive || old != c.State || c.Again && c.State.Run.waits() {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// aliveAfter reports whether g has a state after the changes.
func aliveAfter(g GoroutineID, changes []Change, state func(GoroutineID) (State, bool)) bool {
	i, ok := slices.BinarySearchFunc(changes, g,
		func(c Change, g GoroutineID) int { return cmp.Compare(c.Goroutine, g) })
	if ok {
		return !changes[i].Gone
	}
	_, alive := state(g)
	return alive
}
