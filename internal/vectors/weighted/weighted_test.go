// Package weighted makes the test vectors of views whose samples
// have weights. It is a brute force of its own, which shares no
// code with the views: it gives every nanosecond of a recording
// to a sample, and every goroutine of a sample its typed time as
// the definitions say.
//
// The cases are random, but the same in each run.
package weighted

import (
	"bytes"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A recording is one case: what was seen, and what the views of it are.
type recording struct {
	End     int64
	Samples []*sample
	Weights []int64
	Views   map[string]views // by accounting
}

type views struct {
	Server view
	Thread map[string]view // by class
}

type sample struct {
	Time       int64
	Suspended  int64 `json:",omitempty"`
	Weight     int64 `json:",omitempty"` // if the source knows it
	Processors int
	Threads    []*thread
}

// A thread is a goroutine in one sample.
type thread struct {
	Class    string
	Frames   []string
	State    string // "running", "runnable", "wait", "monitor"
	Priority int    `json:",omitempty"`
	Reason   string `json:",omitempty"`
	Holder   *int   `json:",omitempty"` // of the lock, as an index into the sample's threads
}

// TestVectors compares the vectors with those that are made
// here, or makes them anew if UPDATE_VECTORS is set.
func TestVectors(t *testing.T) {
	const path = "../../../views/testdata/weighted.json"
	r := rand.New(rand.NewPCG(7, 11))
	file := struct {
		Comment string
		Cases   []*recording
	}{Comment: "made by internal/vectors/weighted; times and weights are in nanoseconds"}
	for range 40 {
		file.Cases = append(file.Cases, draw(r))
	}
	made := fixture.Must(json.Marshal(file))(t)
	made = append(made, '\n')
	if os.Getenv("UPDATE_VECTORS") != "" {
		fixture.Check(t, os.WriteFile(path, made, 0o666))
	}
	kept := fixture.Must(os.ReadFile(path))(t)
	if !bytes.Equal(kept, made) {
		t.Errorf("%s is not what this brute force makes: UPDATE_VECTORS=1 go test makes it anew", path)
	}
}

// draw makes a random case.
func draw(r *rand.Rand) *recording {
	c := &recording{Views: make(map[string]views)}
	now := r.Int64N(30)
	for i := range 1 + r.IntN(6) {
		s := &sample{Time: now, Processors: 1 + r.IntN(3)}
		if i > 0 && r.IntN(6) == 0 {
			s.Suspended = r.Int64N(40)
		}
		if r.IntN(8) == 0 {
			s.Weight = 1 + r.Int64N(100)
		}
		for running := 0; len(s.Threads) < 5; {
			t := drawThread(r, running < s.Processors)
			if t.State == "running" {
				running++
			}
			s.Threads = append(s.Threads, t)
		}
		for i, t := range s.Threads {
			if t.State == "monitor" && i > 0 && r.IntN(3) > 0 {
				holder := r.IntN(i) // before it, so that nobody waits in a circle
				t.Holder = &holder
			}
		}
		c.Samples = append(c.Samples, s)
		now += r.Int64N(50)
	}
	c.End = c.Samples[len(c.Samples)-1].Time + r.Int64N(50)
	c.Weights = weights(c)
	for _, accounting := range []string{"observed", "single", "processors"} {
		c.Views[accounting] = viewsOf(c, accounting)
	}
	return c
}

func drawThread(r *rand.Rand, mayRun bool) *thread {
	t := &thread{
		Class: "go:" + string('a'+rune(r.IntN(2))), Frames: []string{"f", "g", "h"}[:1+r.IntN(3)],
		State: []string{"running", "runnable", "wait", "monitor"}[r.IntN(4)],
	}
	switch {
	case t.State == "running" && !mayRun:
		t.State = "runnable"
	case t.State == "wait":
		t.Reason = "IO-wait"
	}
	if t.State == "running" || t.State == "runnable" {
		t.Priority = r.IntN(2)
	}
	return t
}

// weights counts the nanoseconds of each sample. One between two
// samples is of the nearer one, and of the later one of equals.
// The first and the last sample get as many nanoseconds on their
// other side, if the recording has them.
func weights(c *recording) []int64 {
	n := len(c.Samples)
	before, after := make([]int64, n), make([]int64, n)
	for i := 1; i < n; i++ {
		gap := c.Samples[i].Time - c.Samples[i-1].Time - c.Samples[i].Suspended
		for ns := int64(0); ns < gap; ns++ {
			if middle := 2*ns + 1; middle < 2*gap-middle {
				after[i-1]++
			} else {
				before[i]++
			}
		}
	}
	first, last := c.Samples[0], c.Samples[n-1]
	before[0], after[n-1] = first.Time, c.End-last.Time
	if n > 1 {
		before[0], after[n-1] = min(before[0], after[0]), min(after[n-1], before[n-1])
	}
	all := make([]int64, n)
	for i, s := range c.Samples {
		all[i] = max(1, before[i]+after[i])
		if s.Weight != 0 {
			all[i] = s.Weight
		}
	}
	return all
}

// A view has its denominator and its stacks, in hits and in nanoseconds.
type view struct {
	Denominator, Time int64
	Stacks            []stack
}

type stack struct {
	Frames     []string
	Hits, Time string
}

// sums are the hits and nanoseconds of one view, by stack.
type sums map[string]*[2]big.Rat

func (s sums) add(frames []string, hits *big.Rat, weight int64) {
	key := strings.Join(frames, "\n")
	if s[key] == nil {
		s[key] = new([2]big.Rat)
	}
	s[key][0].Add(&s[key][0], hits)
	s[key][1].Add(&s[key][1], new(big.Rat).Mul(hits, big.NewRat(weight, 1)))
}

func (s sums) view(hits, time int64) view {
	v := view{Denominator: hits, Time: time, Stacks: []stack{}}
	for key, sum := range s {
		v.Stacks = append(v.Stacks,
			stack{strings.Split(key, "\n"), sum[0].RatString(), sum[1].RatString()})
	}
	slices.SortFunc(v.Stacks, func(a, b stack) int { return slices.Compare(a.Frames, b.Frames) })
	return v
}

func viewsOf(c *recording, accounting string) views {
	stacks := map[string]sums{"*": {}}
	hits, time := make(map[string]int64), make(map[string]int64)
	for i, s := range c.Samples {
		capacity := int64(s.Processors)
		if accounting == "single" {
			capacity = 1
		}
		hits["*"], time["*"] = hits["*"]+capacity, time["*"]+capacity*c.Weights[i]
		for _, t := range s.Threads {
			if stacks[t.Class] == nil {
				stacks[t.Class] = sums{}
			}
			hits[t.Class], time[t.Class] = hits[t.Class]+1, time[t.Class]+c.Weights[i]
			for _, p := range s.parts(t, accounting) {
				stacks[t.Class].add(append([]string{t.Class}, p.frames...), p.hits, c.Weights[i])
				if p.runs {
					stacks["*"].add(append([]string{"*"}, p.frames...), p.hits, c.Weights[i])
				}
			}
		}
	}
	all := views{Server: stacks["*"].view(hits["*"], time["*"]), Thread: make(map[string]view)}
	for class, s := range stacks {
		if class != "*" {
			all.Thread[class] = s.view(hits[class], time[class])
		}
	}
	return all
}
