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

// addMaxHalt adds the flag that says how a recording finds out what is stuck
// for good.
func addMaxHalt(c *cobra.Command, to *time.Duration) {
	c.Flags().DurationVar(to, "max-halt", heap.DefaultMaxHalt,
		"the longest `time` to halt the program once, to prove that something is stuck for good; 0 leaves the heap unread")
}

func checkMaxHalt(limit time.Duration) error {
	if limit != 0 && limit < time.Millisecond {
		return usagef("--max-halt %v: want at least 1ms, or 0 to leave the heap unread", limit)
	}
	return nil
}

// Limits of what a recording spends on a heap. A heap whose copy is larger
// can't be copied in a short halt.
const (
	markMemory = 256 << 20
	markAgain  = 2 * time.Second
)

// setMark sets the options that let a recording mark the heap with a bound on
// processor time, in cores; 0 is none.
func setMark(o *sampler.Options, maxHalt time.Duration, backend string, maxCPU float64) error {
	if err := checkMaxHalt(maxHalt); err != nil || maxHalt == 0 || !backends[backend].heap {
		return err
	}
	if maxCPU == 0 {
		maxCPU = 1
	}
	o.Mark = live.Marker(heap.Config{MaxHalt: maxHalt, MaxMemory: markMemory,
		MaxCPU: min(maxCPU, 1)})
	o.MarkAgain = markAgain
	return nil
}

// markCore marks the heap of a core dump, if the recording is of one. Without
// its heap, the dump is shown all the same, and a line says what it lacks.
func markCore(t terminal, r *sampledata.Recording, path string, input *inputFlags,
	maxHalt time.Duration) error {
	if input.program == "" || maxHalt == 0 {
		return checkMaxHalt(maxHalt)
	}
	limits := heap.Config{MaxHalt: maxHalt, MaxMemory: int64(input.memory)}
	if limits.MaxMemory == 0 {
		limits.MaxMemory = memory.Default()
	}
	var err error
	if r.Marking, err = coreMarking(path, input.program, limits); err != nil {
		termtext.Fprintf(t.err, "cpprof: what is stuck for good is not known: %s\n", err)
	}
	return checkMaxHalt(maxHalt)
}
