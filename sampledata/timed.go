package sampledata

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/memory"
)

// A Timed makes a recording of goroutines when their states are
// known at every moment, as from an execution trace. The time
// from one change of anything to the next is a sample. Its
// weight is its exact length:
//
//	time        0        30      35          60
//	g1          running          waiting
//	g2          waiting  running
//	samples     0 (30)   1 (5)   2 (25)
//
// So runs say exactly how long each state lasted. A state, with
// its reason for example, becomes known when it ends. For that
// reason a Timed takes runs at their ends, in any order.
//
// If there are more changes than a recording may have samples, a
// Timed keeps a part of them. It divides the time into equal
// strips and keeps one moment of each, chosen at random. The
// moment stands for the strip. Shares are then right on average,
// and hardly ever off: it is a sampler with millions of samples.
type Timed struct {
	*Builder // of the tables
	most     int
	begin    time.Duration // of the first sample
	strip    time.Duration // the length of the strips; 0: every change is a sample
	chosen   time.Duration // the moment of the present strip
	// of the last sample or of the present strip; samples stand
	// for the time before it
	end     time.Duration
	samples chunked[timedSample]
	runs    chunked[plainRun]
	open    []int32 // by OpenRun: the number of the first sample
	free    []OpenRun
	now     Sample // its flags hold from now on
	random  *rand.Rand

	// goroutines that have ended and had runs when the samples
	// were thinned last, or ended since
	ended []GoroutineID
	spare []GoroutineID // codes of goroutines that have ended, and none of whose runs were kept
}

// FromTrace is the backend of recordings that were made from
// execution traces: nothing was halted, and times are exact.
const FromTrace = "execution trace"

// FromDump is the backend of recordings that were made from
// goroutine dumps. The times of dumps are not known.
const FromDump = "goroutine dump"

// An OpenRun is the number of a run that has not ended.
type OpenRun int32

type timedSample struct {
	time, weight time.Duration
	flags        uint8
}

// NewTimed starts a recording of a limited number of samples.
// They begin at a time since the start.
func NewTimed(h Header, begin time.Duration, most int) *Timed {
	return &Timed{
		Builder: NewBuilder(h), most: max(most, 4), begin: begin, end: begin,
		random: rand.New(rand.NewPCG(1, uint64(most))),
	}
}

// Thinned returns the length of the strips that keep one moment
// each; 0 if the recording has every change.
func (t *Timed) Thinned() time.Duration { return t.strip }

// Limit bounds the memory that the recording may take, in bytes,
// for Charge; 0 is a quarter of the machine's.
func (t *Timed) Limit(maxMemory int64) { t.Builder.meter.budget = memory.NewBudget(maxMemory) }

// Charge returns an error if the recording takes more memory
// than a reader may.
func (t *Timed) Charge() error {
	size := int64(t.samples.len())*(24+timeMemory+12) + int64(t.runs.len())*(16+runMemory) +
		int64(t.Builder.tables.calls)*callMemory
	t.Builder.mu.Lock()
	defer t.Builder.mu.Unlock()
	if err := t.Builder.charge(); err != nil {
		return err
	}
	return t.Builder.meter.budget.Fits(size)
}

// Open begins a run at a time. Times don't go backwards from call to call.
func (t *Timed) Open(at time.Duration) OpenRun {
	t.upTo(at)
	return t.openAt(t.samples.len())
}

// OpenAtStart begins a run at the start of the recording.
func (t *Timed) OpenAtStart() OpenRun { return t.openAt(0) }

func (t *Timed) openAt(sample int) OpenRun {
	if n := len(t.free); n > 0 {
		o := t.free[n-1]
		t.free = t.free[:n-1]
		t.open[o] = int32(sample)
		return o
	}
	t.open = append(t.open, int32(sample))
	return OpenRun(len(t.open) - 1)
}

// Close ends a run at a time, and returns its samples [first,
// end). If there are none, the recording does not need the run.
// Otherwise, the caller passes it to Run before it calls another
// method.
func (t *Timed) Close(o OpenRun, at time.Duration) (first, end int32) {
	t.upTo(at)
	t.free = append(t.free, o)
	return t.open[o], int32(t.samples.len())
}

// Run adds a run of the samples that Close returned.
func (t *Timed) Run(g GoroutineID, first, end int32, s State) {
	t.runs.add(plainRun{goroutine: g, first: first, last: end - 1, state: t.Builder.runs.code(s)})
}

// Goroutine returns a code for a goroutine. It may be the code
// of an ended goroutine, if nothing was kept about that one.
func (t *Timed) Goroutine(g Goroutine) GoroutineID {
	if n := len(t.spare); n > 0 {
		id := t.spare[n-1]
		t.spare = t.spare[:n-1]
		t.Amend(id, g)
		return id
	}
	return t.Builder.Goroutine(g)
}

// Ended says that a goroutine will have no more runs.
func (t *Timed) Ended(g GoroutineID) { t.ended = append(t.ended, g) }

// Amend replaces what is known of a goroutine.
func (t *Timed) Amend(g GoroutineID, as Goroutine) { t.Builder.rec.Goroutines.replace(g, as) }

// World says what the runtime does from a time on.
func (t *Timed) World(at time.Duration, stopped, collecting bool) {
	t.upTo(at)
	t.now.StoppedWorld, t.now.Collecting = stopped, collecting
}

// upTo adds the samples for the time before a moment.
func (t *Timed) upTo(at time.Duration) {
	if t.strip == 0 {
		if at <= t.end {
			return
		}
		begin := t.end
		t.end = at
		if t.add(begin, at-begin); t.strip > 0 {
			t.nextStrip()
		}
	}
	for t.strip > 0 && t.chosen < at {
		t.add(t.chosen, t.strip)
		t.nextStrip()
	}
}

// nextStrip begins a strip after the present one.
func (t *Timed) nextStrip() {
	t.chosen = t.end + time.Duration(t.random.Int64N(int64(t.strip)))
	t.end += t.strip
}

// add adds a sample of the time before t.end. If there are too
// many samples, it keeps half of them at most. Any two strips
// that follow each other are longer than one.
func (t *Timed) add(at, weight time.Duration) {
	t.samples.add(timedSample{at, weight, uint8(t.now.flags())})
	if t.samples.len() >= t.most {
		t.thin((t.end-t.begin)/time.Duration(t.most)*4 + 1)
	}
}

// thin keeps one of the samples in each strip of a length.
func (t *Timed) thin(strip time.Duration) {
	t.strip = strip
	all, kept := t.samples.len(), 0
	before := make([]int32, all+1) // by sample: how many of those before it are kept
	for i := 0; i < all; {
		sum, choice, k := time.Duration(0), i, i
		for ; k < all && (k == i || sum+t.samples.at(k).weight <= strip); k++ {
			w := t.samples.at(k).weight
			sum += w
			if t.random.Int64N(int64(sum)) < int64(w) { // each with a probability of its share
				choice = k
			}
		}
		n := int32(kept)
		for j := i; j < k; j++ {
			before[j] = n
			if j > choice {
				before[j]++
			}
		}
		s := *t.samples.at(choice)
		s.weight = sum
		*t.samples.at(kept) = s
		kept++
		i = k
	}
	before[all] = int32(kept)
	t.samples.truncate(kept)
	for i := range t.open {
		t.open[i] = before[t.open[i]]
	}
	runs := 0
	for i := range t.runs.len() {
		r := *t.runs.at(i)
		r.first, r.last = before[r.first], before[r.last+1]-1
		if r.first <= r.last {
			*t.runs.at(runs) = r
			runs++
		}
	}
	t.runs.truncate(runs)
	t.spareEnded()
}

// spareEnded lets the goroutines that have ended and have no
// runs give their codes to others. In a long trace, most
// goroutines are short-lived.
func (t *Timed) spareEnded() {
	kept := make([]bool, t.Builder.rec.Goroutines.Len())
	for _, c := range t.runs.chunks {
		for _, r := range c {
			kept[r.goroutine] = true
		}
	}
	t.ended = slices.DeleteFunc(t.ended, func(g GoroutineID) bool {
		if !kept[g] {
			t.spare = append(t.spare, g)
		}
		return !kept[g]
	})
}

// Recording returns the recording when all runs have been added;
// it ends at a time.
func (t *Timed) Recording(e End) *Recording {
	b := t.Builder
	b.rec.Samples = Samples{}
	for i := range t.samples.len() {
		s := t.samples.at(i)
		b.rec.Samples.add(&Sample{Time: s.time, Weight: s.weight,
			StoppedWorld: s.flags&flagStopped != 0, Collecting: s.flags&flagCollecting != 0})
	}
	b.tables.samples = t.samples.len()
	t.samples = chunked[timedSample]{}
	t.addRuns()
	b.takeCalls()
	b.rec.End = &e
	b.tables.ended = true
	return b.last()
}

// addRuns adds the runs to the builder in the order of a
// recording. If two of a goroutine are adjacent and in one
// state, they become one.
func (t *Timed) addRuns() {
	b := t.Builder
	begins := t.sortRuns()
	// by goroutine: 1 + its last run of those that are kept
	last := make([]int32, t.Builder.rec.Goroutines.Len())
	kept := &b.runs.list
	var same []plainRun
	for i := range b.tables.samples {
		same = same[:0]
		for k := begins[i]; k < begins[i+1]; k++ {
			same = append(same, *t.runs.at(int(k)))
			if k&(chunkLen-1) == chunkLen-1 {
				t.runs.chunks[k>>chunkBits] = nil // it has been read
			}
		}
		slices.SortFunc(same, func(a, b plainRun) int {
			return cmp.Compare(a.goroutine, b.goroutine)
		})
		for _, r := range same {
			if k := int(last[r.goroutine]) - 1; k >= 0 {
				if p := kept.at(k); p.last+1 == r.first && p.state == r.state {
					kept.end(k, r.last)
					continue
				}
			}
			kept.add(r)
			last[r.goroutine] = int32(kept.len())
		}
	}
	t.runs = chunked[plainRun]{}
}

// sortRuns sorts the runs by their first samples. It returns for
// each sample where its runs begin and, after the last sample,
// the number of runs. The runs are in order of their ends. A run
// with k others before it begins after few more than k others,
// so the chunks that were read suffice for nearly all chunks
// that are written.
func (t *Timed) sortRuns() (begins []int32) {
	begins = make([]int32, t.Builder.tables.samples+1)
	for _, c := range t.runs.chunks {
		for _, r := range c {
			begins[r.first+1]++
		}
	}
	for i := 1; i < len(begins); i++ {
		begins[i] += begins[i-1]
	}
	next := slices.Clone(begins)
	sorted := chunked[plainRun]{make([][]plainRun, len(t.runs.chunks))}
	var free [][]plainRun
	for i, c := range t.runs.chunks {
		for _, r := range c {
			at := next[r.first]
			next[r.first]++
			to := &sorted.chunks[at>>chunkBits]
			if *to == nil && len(free) > 0 {
				*to, free = free[len(free)-1][:chunkLen], free[:len(free)-1]
			} else if *to == nil {
				*to = make([]plainRun, chunkLen)
			}
			(*to)[at&(chunkLen-1)] = r
		}
		t.runs.chunks[i] = nil
		if cap(c) >= chunkLen {
			free = append(free, c)
		}
	}
	sorted.truncate(int(begins[len(begins)-1]))
	t.runs = sorted
	return begins
}
