package sampledata

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// columnOf returns a column; points are pairs of a sample and
// the bits that were measured then.
func columnOf(f form, points ...uint64) (c column) {
	before := uint64(0)
	for i := 0; i < len(points); i += 2 {
		c.add(int32(points[i]), &measurement{measured: true, step: f.step(before, points[i+1])})
		before = points[i+1]
	}
	return c
}

func withBytes(c *column, b []byte) { c.data, c.used = b, len(b) }

// Each of the mutations breaks one rule of a valid recording.
// Check must report that rule.
var mutations = []struct {
	want   string
	mutate func(r *Recording)
}{
	{"header: negative pid -1", func(r *Recording) { r.Header.PID = -1 }},
	{"header: negative GOMAXPROCS -2", func(r *Recording) { r.Header.GOMAXPROCS = -2 }},
	{"header: start time in the year 10000: want 1 to 9999", func(r *Recording) { r.Header.Start = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
	{"header: rate NaN is not a number from 0 up", func(r *Recording) { r.Header.Sampler.RateHz = math.NaN() }},
	{"header: jitter -1 is not a number from 0 up", func(r *Recording) { r.Header.Sampler.Jitter = -1 }},
	{"header: overhead bound +Inf is not a number from 0 up", func(r *Recording) { r.Header.Sampler.MaxOverhead = math.Inf(1) }},
	{"header: CPU bound -1 is not a number from 0 up", func(r *Recording) { r.Header.Sampler.MaxCPU = -1 }},

	{"function 1: function without a name", func(r *Recording) { r.Functions[1].Name = "" }},
	{"function 1: negative line -1", func(r *Recording) { r.Functions[1].Line = -1 }},
	{"function 1 is the same as function 0", func(r *Recording) { r.Functions[1] = r.Functions[0] }},
	{"node 1: parent 1 is none of the 1 nodes before it", func(r *Recording) { r.Nodes[1].Parent = 1 }},
	{"node 1: parent -2 is none of the 1 nodes before it", func(r *Recording) { r.Nodes[1].Parent = -2 }},
	{"node 1: function 2 is none of the 2 functions", func(r *Recording) { r.Nodes[1].Function = 2 }},
	{"node 1: negative line -1", func(r *Recording) { r.Nodes[1].Line = -1 }},
	{"node 2 is the same as node 1", func(r *Recording) { r.Nodes = append(r.Nodes, r.Nodes[1]) }},
	{"node 10000: stack of more than 10000 frames: cut it, and count it in a warning", func(r *Recording) {
		for i := range MaxDepth {
			r.Nodes = append(r.Nodes, Node{Parent: NodeID(i + 1)})
		}
	}},
	{"goroutine 1: start function 2 is none of the 2 functions", func(r *Recording) { changeGoroutine(r, 1, func(g *Goroutine) { g.Start = 2 }) }},
	{"goroutine 1: negative line -1", func(r *Recording) { changeGoroutine(r, 1, func(g *Goroutine) { g.Site.Line = -1 }) }},

	{"label set 0 is not the empty set", func(r *Recording) { r.LabelSets = nil }},
	{"label set 0 is not the empty set", func(r *Recording) { r.LabelSets = r.LabelSets[1:] }},
	{`label set 1: label keys "route" and "job" are not in ascending order`, func(r *Recording) { l := r.LabelSets[1]; l[0], l[1] = l[1], l[0] }},
	{"label set 2 is the same as label set 1", func(r *Recording) { r.LabelSets = append(r.LabelSets, r.LabelSets[1]) }},
	{"label set 2 is the same as label set 0", func(r *Recording) { r.LabelSets = append(r.LabelSets, nil) }},
	{"holder set 0 is not the empty set", func(r *Recording) { r.HolderSets = nil }},
	{"holder set 1: holder 2 is none of the 2 goroutines", func(r *Recording) { r.HolderSets[1] = []GoroutineID{2} }},
	{"holder set 1: holders 1 and 0 are not in ascending order", func(r *Recording) { r.HolderSets[1] = []GoroutineID{1, 0} }},
	{"holder set 2 is the same as holder set 1", func(r *Recording) { r.HolderSets = append(r.HolderSets, r.HolderSets[1]) }},

	{"lock name 0: name of the lock at 0xc000: no name", func(r *Recording) { r.LockNames[0].Name = "" }},
	{"lock name 0: name of the lock at 0xc000: it begins at sample -1, but there are 3", func(r *Recording) { r.LockNames[0].First = -1 }},
	{"lock name 1: name of the lock at 0xc000: it begins at sample 4, but there are 3", func(r *Recording) { r.LockNames[1].First = 4 }},
	{"lock name 1: name of the lock at 0xc000: it begins at sample 0, not after the one before it, at 0", func(r *Recording) { r.LockNames[1].First = 0 }},
	{`lock name 1: name of the lock at 0xc000: it is "main.(*cache).mu" already`, func(r *Recording) { r.LockNames[1] = LockName{Address: 0xc000, First: 1, Name: "main.(*cache).mu"} }},
	{"lock name 1: name of the lock at 0xc000: a capacity of -1", func(r *Recording) { r.LockNames[1].Capacity = -1 }},

	{"sample 1: time 5ms is before that of the previous sample, 10ms", func(r *Recording) { changeSample(r, 1, func(s *Sample) { s.Time = 5 * time.Millisecond }) }},
	{"sample 0: negative time -1", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Time = -1 }) }},
	{"sample 0: negative halt -1", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Halt = -1 }) }},
	{"sample 0: negative thread count -1", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Threads = -1 }) }},
	{"sample 0: 1 stacks rechecked of 0 reused", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Rechecked = 1 }) }},
	{"sample 0: 1 stacks wrong of 0 rechecked", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Wrong = 1 }) }},
	{"sample 0: processor 1 runs 2, which is none of the 2 goroutines", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Processors[1] = 2 }) }},
	{"sample 0: processor 1 runs -3, which is none of the 2 goroutines", func(r *Recording) { changeSample(r, 0, func(s *Sample) { s.Processors[1] = -3 }) }},
	{"sample 2: processor 0 runs goroutine 0, which has no state", func(r *Recording) { changeSample(r, 2, func(s *Sample) { s.Processors[0] = 0 }) }},

	{"run 2: 2 is none of the 2 goroutines", func(r *Recording) { changeRun(r, 2, func(p *plainRun) { p.goroutine = 2 }) }},
	{"run 0: samples 1 to 0 are not within the 3 samples", func(r *Recording) { changeRun(r, 0, func(p *plainRun) { p.first, p.last = 1, 0 }) }},
	{"run 2: samples 2 to 3 are not within the 3 samples", func(r *Recording) { changeRun(r, 2, func(p *plainRun) { p.last = 3 }) }},
	{"run 1: not in order after run 0", func(r *Recording) { changeRun(r, 1, func(p *plainRun) { p.goroutine = 0 }) }},
	{"run 1: not in order after run 0", func(r *Recording) { l := r.Runs.list.list.chunks[0]; l[0], l[1] = l[1], l[0] }},
	{"run 2: overlaps run 1 of the same goroutine", func(r *Recording) { changeRun(r, 1, func(p *plainRun) { p.last = 2 }) }},
	{"run 2: should be one with run 1 of the same goroutine", func(r *Recording) {
		for i := 1; i <= 2; i++ {
			changeRun(r, i, func(p *plainRun) { p.state = r.Runs.list.at(0).state })
		}
	}},
	{"run 0: stack 2 is none of the 2 nodes", func(r *Recording) { changeState(r, 0, func(s *State) { s.Stack = 2 }) }},
	{"run 0: stack -2 is none of the 2 nodes", func(r *Recording) { changeState(r, 0, func(s *State) { s.Stack = -2 }) }},
	{"run 0: unknown run state 6", func(r *Recording) { changeState(r, 0, func(s *State) { s.Run = 6 }) }},
	{"run 1: a goroutine that is blocked has no thread that could wait for a CPU", func(r *Recording) { changeState(r, 1, func(s *State) { s.NoCPU = true }) }},
	{"run 0: unknown evidence 6", func(r *Recording) { changeState(r, 0, func(s *State) { s.Evidence = Free + 1 }) }},
	{"run 0: label set 2 is none of the 2 label sets", func(r *Recording) { changeState(r, 0, func(s *State) { s.Labels = 2 }) }},
	{"run 0: holder set 2 is none of the 2 holder sets", func(r *Recording) { changeState(r, 0, func(s *State) { s.Holders = 2 }) }},
	{`run 1: holder set 0 with evidence "inferred": holders need evidence, and evidence holders`, func(r *Recording) { changeState(r, 1, func(s *State) { s.Holders = 0 }) }},
	{`run 1: holder set 1 with evidence "none": holders need evidence, and evidence holders`, func(r *Recording) { changeState(r, 1, func(s *State) { s.Evidence = NoEvidence }) }},

	{"series 1 is the same as series 0", func(r *Recording) { r.Series[1] = r.Series[0] }},
	{"series 1: it has another definition already, as monitor 0", func(r *Recording) { r.Series[1].Name = "process.cpu" }},
	{"series 0: no name", func(r *Recording) { r.Series[0].Name = "" }},
	{"series 0: unknown layer 5", func(r *Recording) { r.Series[0].Layer = 5 }},
	{"series 0: unknown kind 3", func(r *Recording) { r.Series[0].Kind = 3 }},
	{"series 2: nominal values are words, not floating-point numbers", func(r *Recording) { r.Series[2].Real = true }},
	{"series 0: it has values, but is not measured: no", func(r *Recording) { r.Series[0].Unmeasured = "no" }},
	{"series 0: point 2: sample 3 is none of the 3 samples", func(r *Recording) { r.Series[0].column = columnOf(count, 0, 1, 2, 5, 3, 7) }},
	{"series 0: point 1: the value did not change", func(r *Recording) { r.Series[0].column = columnOf(count, 0, 1, 2, 1) }},
	{"series 1: point 0: the value did not change", func(r *Recording) { withBytes(&r.Series[1].column, []byte{1}) }},
	{"series 1: point 0: NaN is no value: leave out what was not measured", func(r *Recording) { r.Series[1].column = columnOf(real, 0, math.Float64bits(math.NaN())) }},
	{"series 2: point 0: word 1 of 2, but only 0 are used before it", func(r *Recording) { r.Series[2].column = columnOf(word, 0, 1) }},
	{"series 2: point 1: word 2 of 2, but only 1 are used before it", func(r *Recording) { r.Series[2].column = columnOf(word, 0, 0, 1, 2) }},
	{"series 2: point 1: word 1 of 1, but only 1 are used before it", func(r *Recording) { r.Series[2].Words = r.Series[2].Words[:1] }},
	{"series 0: 2 points, but the count says 3", func(r *Recording) { c := columnOf(count, 0, 1, 2, 5); c.points = 3; r.Series[0].column = c }},
	{"series 0: point 1: its column is damaged", func(r *Recording) {
		c := columnOf(count, 0, 1, 2, 5)
		c.used--
		r.Series[0].column = c
	}},
	{"series 0: point 0: its column is damaged", func(r *Recording) { withBytes(&r.Series[0].column, bytes.Repeat([]byte{0x80}, 11)) }},
	{"series 0: point 0: its column is damaged", func(r *Recording) { withBytes(&r.Series[0].column, binary.AppendUvarint(nil, 1<<33)) }},
	{"series 2: word 2 is not used", func(r *Recording) { r.Series[2].Words = append(r.Series[2].Words, "sweep") }},
	{"series 0: word 0 is not used", func(r *Recording) { r.Series[0].Words = []string{"sweep"} }},
	{`series 2: word 1 is "off", like an earlier one`, func(r *Recording) { r.Series[2].Words[1] = "off" }},
	{"series without samples", func(r *Recording) {
		*r = Recording{Header: r.Header, LabelSets: r.LabelSets[:1], HolderSets: r.HolderSets[:1], Series: r.Series}
	}},

	{`warning 0: want a kind and a count from 1 up, not "" and 5`, func(r *Recording) { r.Warnings[0].Kind = "" }},
	{`warning 0: want a kind and a count from 1 up, not "torn-stack" and 0`, func(r *Recording) { r.Warnings[0].Count = 0 }},
	{`warning 1: a second of kind "torn-stack"`, func(r *Recording) { r.Warnings = append(r.Warnings, r.Warnings[0]) }},
	{"end: unknown cause 7", func(r *Recording) { r.End.Cause = 7 }},
	{"end: negative time -1", func(r *Recording) { r.End.Time = -1 }},
}

// changeState changes the state of a run.
func changeState(r *Recording, run int, change func(*State)) {
	s := r.Runs.At(run).State()
	change(&s)
	t := &r.Runs.states
	t.list.add(*RunOf(0, 0, 0, s).storedState)
	changeRun(r, run, func(p *plainRun) { p.state = int32(t.list.len() - 1) })
}

// changeRun changes what is stored of a run, also to numbers
// that runs can't have.
func changeRun(r *Recording, i int, change func(*plainRun)) {
	l := &r.Runs.list
	p := l.at(i)
	change(&p)
	*l.list.at(i) = storedRun{p.goroutine, p.state, isLong | uint32(l.long.len())}
	l.long.add(span{p.first, p.last})
}

// changeGoroutine replaces a goroutine of a recording by a changed one.
func changeGoroutine(r *Recording, id GoroutineID, change func(*Goroutine)) {
	g := r.Goroutines.At(id)
	change(&g)
	r.Goroutines.replace(id, g)
}

// changeSample replaces a sample of a recording by a changed one.
func changeSample(r *Recording, i int, change func(*Sample)) {
	samples := samplesOf(r)
	samples[i].Processors = slices.Clone(samples[i].Processors)
	change(&samples[i])
	r.Samples = Samples{}
	for i := range samples {
		r.Samples.add(&samples[i])
	}
}

func TestCheckFindsEachMutation(t *testing.T) {
	for _, test := range mutations {
		b := NewBuilder(testHeader())
		twoGoroutines(t, b)
		r := b.Recording()
		fixture.Check(t, r.Check())
		test.mutate(r)
		if err := r.Check(); err == nil || err.Error() != "check recording: "+test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
		if err := r.Write(t.TempDir()); err == nil {
			t.Errorf("%s: written anyway", test.want)
		}
	}
}
