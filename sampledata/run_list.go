package sampledata

import "slices"

// A plainRun is a Run with an index into Runs.states for its state.
type plainRun struct {
	goroutine   GoroutineID
	first, last int32
	state       int32
}

// A runList keeps plainRuns in order of their first samples. In
// a chunk of thousands of runs, the first samples are close to
// each other, and most runs are short: both numbers of a run,
// which take 8 bytes, are mostly kept in 4.
type runList struct {
	list   chunked[storedRun]
	begins []int32       // by chunk of list: the first sample of its first run
	long   chunked[span] // of the runs whose numbers do not fit
}

// A storedRun is a plainRun. Most runs have their samples in
// short. The upper part of the bits is the distance from the
// beginning of the chunk to the first sample. The rest is the
// distance from the first sample to the last one. If the highest
// bit is set, the other bits are an index into runList.long.
type storedRun struct {
	goroutine GoroutineID
	state     int32
	short     uint32
}

const (
	lengthBits = 16
	isLong     = 1 << 31
	maxAfter   = isLong>>lengthBits - 1
	maxLength  = 1<<lengthBits - 1
)

// A span is the samples of a run.
type span struct{ first, last int32 }

func (l *runList) len() int { return l.list.len() }

// at returns a run by its number.
func (l *runList) at(i int) plainRun {
	r := l.list.at(i)
	s := l.samples(i, r.short)
	return plainRun{r.goroutine, s.first, s.last, r.state}
}

// samples returns the samples of a run, given its number and its
// stored bits.
func (l *runList) samples(i int, short uint32) span {
	if short&isLong != 0 {
		return *l.long.at(int(short &^ isLong))
	}
	first := l.begins[i>>chunkBits] + int32(short>>lengthBits)
	return span{first, first + int32(short&maxLength)}
}

// add appends a run, which begins no earlier than the one before it.
func (l *runList) add(r plainRun) {
	if l.len()>>chunkBits == len(l.begins) {
		l.begins = append(l.begins, r.first)
	}
	l.list.add(storedRun{r.goroutine, r.state, 0})
	l.put(l.len()-1, span{r.first, r.last})
}

// end replaces the last sample of a run.
func (l *runList) end(i int, last int32) {
	if r := l.list.at(i); r.short&isLong != 0 {
		l.long.at(int(r.short &^ isLong)).last = last
		return
	}
	l.put(i, span{l.at(i).first, last})
}

// put sets the samples of a run that is not among the long ones.
func (l *runList) put(i int, s span) {
	r := l.list.at(i)
	after, length := uint32(s.first-l.begins[i>>chunkBits]), uint32(s.last-s.first)
	if after <= maxAfter && length <= maxLength {
		r.short = after<<lengthBits | length
		return
	}
	r.short = isLong | uint32(l.long.len())
	l.long.add(s)
}

// clone returns a copy of the list. Changes of l do not change it.
func (l *runList) clone() runList {
	return runList{l.list.clone(), slices.Clone(l.begins), l.long.clone()}
}
