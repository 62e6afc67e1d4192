package sampledata

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
)

// A Kept is what a Ring had at one moment. It does not change
// when the ring goes on.
type Kept struct {
	header    Header
	parts     []Piece
	from, to  time.Duration // of the recording that grows: begin, and last sample
	lockNames []LockName
	marking   *Marking
}

// A Piece is a part of a Ring as a recording of its own.
type Piece struct {
	*Recording
	First   int           // the number of its first sample in the ring
	origins []GoroutineID // by own code: the ring's
}

// Kept returns the end of the recording: as much as the ring is
// to keep, or less if it has less.
func (r *Ring) Kept() (*Kept, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := &Kept{header: r.header, lockNames: slices.Clip(r.lockNames), marking: r.tables.marking}
	k.parts = r.since(0)
	if len(k.parts) == 0 {
		return nil, errors.New("there are no samples so far")
	}
	k.to = r.tables.time
	k.from = max(0, k.to-r.o.Keep)
	if first := k.parts[0]; first.First > 0 {
		k.from = max(k.from, first.Samples.Time(0))
	}
	return k, nil
}

// since returns the parts that have a sample with that number or
// a later one.
func (r *Ring) since(sample int) (list []Piece) {
	for _, p := range r.parts {
		one := Piece{p.rec, p.first, slices.Clip(p.origins)}
		if p.rec == nil {
			if p.first+p.tables.samples <= sample || p.tables.samples == 0 {
				continue
			}
			one.Recording = p.Recording()
		}
		if p.first+one.Samples.Len() > sample {
			list = append(list, one)
		}
	}
	return list
}

// Since returns the pieces of the ring that have a sample with a
// number or a later one. Each begins with the states of all
// goroutines.
func (r *Ring) Since(sample int) []Piece {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since(sample)
}

// Short reports whether the ring had too little memory to keep all.
func (r *Ring) Short() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.short
}

// Header returns the header of a recording of what is kept. It
// begins when that begins.
func (k *Kept) Header() Header {
	h := k.header
	h.Start = h.Start.Add(k.from)
	return h
}

// Length returns how much time is kept.
func (k *Kept) Length() time.Duration { return k.to - k.from }

// Samples returns the number of the sample after the last one,
// in the ring.
func (k *Kept) Samples() int {
	last := k.parts[len(k.parts)-1]
	return last.First + last.Samples.Len()
}

// Replay passes what is kept to an empty sink, and finishes it.
// The time of the end is the one of the recording that grows.
func (k *Kept) Replay(sink Sink, e End) error {
	j := &joiner{Sink: sink, kept: k, goroutines: make(map[GoroutineID]GoroutineID),
		alive: make(map[GoroutineID]bool), firstSample: -1}
	for _, p := range k.parts {
		for _, t := range p.Calls {
			j.surplus += len(t.Calls)
		}
	}
	j.surplus -= MaxTimedCalls
	for _, p := range k.parts {
		j.begin(p)
		if err := p.replay(j); err != nil {
			return err
		}
	}
	if k.marking != nil {
		m := *k.marking
		m.Time = max(0, m.Time-k.from)
		sink.Mark(&m)
	}
	for _, n := range j.lockNames() {
		sink.LockName(n)
	}
	e.Time = max(k.to, e.Time) - k.from
	return sink.Finish(e)
}

// A joiner makes one recording of several parts. It passes on
// only what its samples need.
type joiner struct {
	Sink        // of the result
	kept        *Kept
	surplus     int // number of timed calls that are too many; the first ones are left out
	samples     int // number of those that were passed on
	firstSample int // number of the first one in the ring

	// By the ring's codes.
	goroutines map[GoroutineID]GoroutineID // the result's code
	alive      map[GoroutineID]bool        // in the last sample of the result

	part     Piece
	isFirst  bool      // the result has no sample of the part
	left     statesNow // by the part's codes: in the samples that are left out
	monitors []MonitorID
	recoder  recoder // from the part's codes
}

func (j *joiner) begin(p Piece) {
	j.part, j.isFirst, j.left = p, true, make(statesNow)
	j.monitors = nil
	j.recoder = recoder{
		to: j.Sink, functions: p.Functions, nodes: p.Nodes, goroutine: j.goroutine,
		labelSet:  func(id LabelSetID) []Label { return p.LabelSets[id] },
		holderSet: func(id HolderSetID) []GoroutineID { return p.HolderSets[id] },
		labelSets: make(map[LabelSetID]LabelSetID), holderSets: make(map[HolderSetID]HolderSetID),
	}
}

// replay asks for codes, and gets the part's own.

func (j *joiner) Function(Function) FunctionID        { return 0 }
func (j *joiner) Node(Node) NodeID                    { return 0 }
func (j *joiner) Goroutine(Goroutine) GoroutineID     { return 0 }
func (j *joiner) LabelSet([]Label) LabelSetID         { return 0 }
func (j *joiner) HolderSet([]GoroutineID) HolderSetID { return 0 }
func (j *joiner) LockName(LockName)                   {}
func (j *joiner) Finish(End) error                    { return nil }
func (j *joiner) Measure(m MonitorID, v Value)        { j.Sink.Measure(j.monitors[m], v) }
func (j *joiner) Monitor(m Monitor) MonitorID {
	id := j.Sink.Monitor(m)
	j.monitors = append(j.monitors, id)
	j.Sink.Measure(id, Value{}) // unless the part begins with a value
	return id
}

// Calls passes on what is kept of timed calls.
func (j *joiner) Calls(t CallTable) {
	from := j.kept.from
	windows, calls := t.Windows, t.Calls
	t.Windows, t.Calls = nil, nil
	for _, w := range windows {
		if w.To > from {
			t.Windows = append(t.Windows, CallWindow{max(0, w.From-from), w.To - from})
		}
	}
	for _, c := range calls {
		if j.surplus--; j.surplus >= 0 || c.End <= from {
			continue
		}
		c.CutBegin = c.CutBegin || c.Begin < from
		c.Begin, c.End = max(0, c.Begin-from), c.End-from
		t.Calls = append(t.Calls, c)
	}
	j.Sink.Calls(t)
}

func (j *joiner) Sample(s Sample, changes []Change) error {
	if s.Time < j.kept.from {
		j.left.take(changes)
		return nil
	}
	if j.firstSample < 0 {
		j.firstSample = j.part.First + j.part.Samples.Search(s.Time)
	}
	var list []Change
	if j.isFirst {
		list = j.gone(changes)
	}
	for _, c := range changes {
		of := j.change(c.Goroutine, c.Gone, c.State)
		of.Again = !j.isFirst // a part begins with all states
		list = append(list, of)
	}
	j.isFirst = false
	s.Time -= j.kept.from
	if j.samples == 0 {
		s.Missed, s.SamplerCPU, s.LostHalt, s.Suspended = 0, 0, 0, 0
	}
	s.Processors = j.recoder.processors(s.Processors)
	j.samples++
	return j.Sink.Sample(s, list)
}

// gone returns the changes before the part's first sample:
// goroutines that the part before had and this one does not, and
// the states that earlier samples of this part have left.
func (j *joiner) gone(changes []Change) (list []Change) {
	for _, c := range changes {
		delete(j.left, c.Goroutine)
	}
	here := make(map[GoroutineID]bool)
	for g, s := range j.left {
		list = append(list, j.change(g, false, s))
		here[j.part.origins[g]] = true
	}
	for _, c := range changes {
		here[j.part.origins[c.Goroutine]] = true
	}
	for g := range j.alive {
		if !here[g] {
			list = append(list, Change{Goroutine: j.goroutines[g], Gone: true})
			delete(j.alive, g)
		}
	}
	return list
}

// change returns a change in the result's codes.
func (j *joiner) change(g GoroutineID, gone bool, s State) Change {
	ring := j.part.origins[g]
	if gone {
		delete(j.alive, ring)
		return Change{Goroutine: j.goroutine(g), Gone: true}
	}
	j.alive[ring] = true
	return Change{Goroutine: j.goroutine(g), State: j.recoder.state(s)}
}

func (j *joiner) goroutine(g GoroutineID) GoroutineID {
	return lists.Made(j.goroutines, j.part.origins[g], func() GoroutineID {
		one := j.part.Goroutines.At(g)
		one.Start = j.recoder.function(one.Start)
		return j.Sink.Goroutine(one)
	})
}

// lockNames returns the names of locks by the samples of the
// result. If a lock had several names before these, the last one
// counts.
func (j *joiner) lockNames() (list []LockName) {
	for _, n := range j.kept.lockNames {
		n.First = max(0, n.First-int32(max(0, j.firstSample)))
		if int(n.First) < j.samples {
			list = append(list, n)
		}
	}
	return latestNames(list)
}

// latestNames leaves out the names that a lock has got from one
// sample on, except for the last one.
func latestNames(list []LockName) []LockName {
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b LockName) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Address, b.Address))
	})
	return slices.CompactFunc(list, func(a, b LockName) bool {
		return a.Address == b.Address && a.First == b.First
	})
}
