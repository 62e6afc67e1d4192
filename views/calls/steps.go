package calls

import (
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Step is what the goroutine of a call did for some time.
type Step struct {
	At       time.Duration `json:"at_ns"` // since the recording's start
	Length   time.Duration `json:"length_ns"`
	Doing    views.Doing   `json:"does"`
	Function string        `json:"function,omitempty"` // that it was in, of the program if there is one
	Line     int32         `json:"line,omitempty"`
	Lock     string        `json:"lock,omitempty"` // the lock that it waited for
	Holders  []Holder      `json:"holders,omitempty"`
	Certain  bool          `json:"certain,omitempty"` // they held the lock; otherwise they are candidates
}

// A Holder is a goroutine that another one waits for.
type Holder struct {
	ID       int64       `json:"goroutine"`
	Class    string      `json:"class,omitempty"`
	Doing    views.Doing `json:"does"` // as the wait began
	Function string      `json:"function,omitempty"`
}

// Steps returns what the goroutine of a call did, in order.
func (t *Table) Steps(c *Call, o views.Options) (steps []Step) {
	k := newRanking(t, o)
	if !c.Sampled() {
		return nil
	}
	for _, i := range k.overlapping(c.Goroutine, c.First, c.Last) {
		run := t.recording.Runs.At(int(i))
		run.First, run.Last = max(run.First, c.First), min(run.Last, c.Last)
		s := Step{At: t.recording.Begins(int(run.First)), Doing: views.DoingOf(run), Certain: run.Evidence.Blames(),
			Length: time.Duration(k.weights.Of(int(run.First), int(run.Last)+1))}
		if at := place(t.recording, run.Stack); at != sampledata.NoStack {
			s.Function, s.Line = t.recording.NameAt(at), t.recording.Nodes[at].Line
		}
		if s.Doing == views.AwaitingLock {
			s.Lock = k.lockName(run)
		}
		if run.Holders != 0 {
			s.Holders = k.holdersAt(run)
		}
		if n := len(steps); n > 0 && steps[n-1].same(&s) {
			steps[n-1].Length += s.Length
			continue
		}
		steps = append(steps, s)
	}
	return steps
}

// same reports whether a step goes on.
func (s *Step) same(next *Step) bool {
	return s.Doing == next.Doing && s.Function == next.Function && s.Line == next.Line &&
		s.Lock == next.Lock && s.Certain == next.Certain && slices.Equal(s.Holders, next.Holders)
}

// holdersAt returns the goroutines that a run waits for.
func (k *ranking) holdersAt(run sampledata.Run) (list []Holder) {
	for _, g := range k.r.HolderSets[run.Holders] {
		h := Holder{ID: k.r.Goroutines.At(g).ID}
		if at := k.overlapping(g, run.First, run.Last); len(at) > 0 {
			holder := k.r.Runs.At(int(at[0]))
			h.Class, h.Doing = k.classOf(holder), views.DoingOf(holder)
			h.Function = k.r.NameAt(place(k.r, holder.Stack))
		}
		list = append(list, h)
	}
	return list
}
