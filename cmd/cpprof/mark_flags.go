package main

import (
	"time"

	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/spf13/cobra"
)

// markFlags are the flags that say how a recording finds out what is stuck
// for good.
type markFlags struct {
	noHeap  bool
	maxHalt time.Duration
}

func (f *markFlags) add(c *cobra.Command) {
	f.maxHalt = heap.DefaultMaxHalt
	c.Flags().BoolVar(&f.noHeap, "no-heap", false,
		"don't find out what is stuck for good: leave the program's heap unread")
}

func addMaxHalt(c *cobra.Command, to *time.Duration) {
	c.Flags().DurationVar(to, "max-halt", heap.DefaultMaxHalt,
		"the longest `time` to halt the program once, to prove that something is stuck for good")
}

func checkMaxHalt(limit time.Duration) error {
	if limit < time.Millisecond {
		return usagef("--max-halt %v: want at least 1ms", limit)
	}
	return nil
}

// Limits of what a recording spends on a heap. A heap whose copy is larger
// can't be copied in a short halt.
const (
	markMemory = 256 << 20
	markAgain  = 10 * time.Second
)

// set sets the options that let a recording mark the heap with a bound on
// processor time, in cores; 0 is none.
func (f *markFlags) set(o *sampler.Options, backend string, maxCPU float64) error {
	if err := checkMaxHalt(f.maxHalt); err != nil || f.noHeap || !backends[backend].heap {
		return err
	}
	if maxCPU == 0 {
		maxCPU = 1
	}
	o.Mark = live.Marker(heap.Config{MaxHalt: f.maxHalt, MaxMemory: markMemory,
		MaxCPU: min(maxCPU, 1)})
	o.MarkAgain = markAgain
	return nil
}

// setCore marks the heap of a core dump, if the recording is of one. Without
// its heap, the dump is shown all the same, and a line says what it lacks.
func (f *markFlags) setCore(t terminal, r *sampledata.Recording, path string,
	input *inputFlags) error {
	if input.program == "" || f.noHeap {
		return checkMaxHalt(f.maxHalt)
	}
	limits := heap.Config{MaxHalt: f.maxHalt, MaxMemory: int64(input.memory)}
	if limits.MaxMemory == 0 {
		limits.MaxMemory = memory.Default()
	}
	var err error
	if r.Marking, err = coreMarking(path, input.program, limits); err != nil {
		termtext.Fprintf(t.err, "cpprof: what is stuck for good is not known: %s\n", err)
	}
	return checkMaxHalt(f.maxHalt)
}
