// Package lockcode measures how much the code of a program says about the
// locks that its goroutines hold: at each call during which a lock may be
// held, whether it is sure that it is, and if not, why.
package lockcode

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
)

// A Census counts the calls in a program's code during which a lock may be held.
type Census struct {
	Go          string // version that built the program
	Calls, Sure int
	Unsure      []Reason // most frequent first
	Functions   []Function
}

// A Reason is why it is not sure that a lock is held, and at how many calls.
type Reason struct {
	Text  string
	Calls int
}

// A Function is one in which a lock may be held during a call.
type Function struct {
	Name        string
	Calls, Sure int
	Unsure      []UnsureCall
}

// An UnsureCall is a call during which it is not sure that a lock is held.
type UnsureCall struct {
	Line   int32
	Reason string
}

// Take reads an executable and counts the calls of its functions. It counts
// only functions for whose names match returns true; if match is nil, it
// counts all.
func Take(path string, match func(name string) bool) (*Census, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bin, err := gobinary.Open(f, 0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	read, err := gobinary.Loaded(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	a, err := syncflow.New(syncflow.Program{Table: bin.Table, Arch: bin.Arch, Read: read})
	if err != nil {
		return nil, err
	}
	c := &Census{Go: bin.Version}
	var unsure [syncflow.NumDoubts]int
	for i := range bin.Table.Len() {
		fn, ok := bin.Table.At(i)
		if !ok || match != nil && !match(fn.Name()) {
			continue
		}
		a.Refill(workPerFunction)
		calls, _ := a.LockedCalls(fn)
		if len(calls) > 0 {
			c.add(fn, calls, &unsure)
		}
	}
	for d, n := range unsure {
		if n > 0 {
			c.Unsure = append(c.Unsure, Reason{syncflow.Doubt(d).String(), n})
		}
	}
	slices.SortStableFunc(c.Unsure, func(a, b Reason) int { return cmp.Compare(b.Calls, a.Calls) })
	return c, nil
}

// workPerFunction is more than any function needs.
const workPerFunction = 1 << 40

// add counts the calls of one function.
func (c *Census) add(fn pclntab.Func, calls []syncflow.LockedCall,
	unsure *[syncflow.NumDoubts]int) {
	f := Function{Name: fn.Name(), Calls: len(calls)}
	for _, call := range calls {
		if call.Doubt == syncflow.NoDoubt {
			f.Sure++
			continue
		}
		unsure[call.Doubt]++
		u := UnsureCall{Reason: call.Doubt.String()}
		if frames := fn.Frames(nil, call.PC); len(frames) > 0 {
			u.Line = frames[len(frames)-1].Line
		}
		f.Unsure = append(f.Unsure, u)
	}
	c.Calls, c.Sure = c.Calls+f.Calls, c.Sure+f.Sure
	c.Functions = append(c.Functions, f)
}

// Worst returns the functions with the most calls that are not sure, at most n.
func (c *Census) Worst(n int) []Function {
	worst := slices.Clone(c.Functions)
	slices.SortStableFunc(worst,
		func(a, b Function) int { return cmp.Compare(len(b.Unsure), len(a.Unsure)) })
	worst = worst[:min(n, len(worst))]
	return slices.DeleteFunc(worst, func(f Function) bool { return len(f.Unsure) == 0 })
}

// SureEverywhere returns the number of functions whose calls are all sure.
func (c *Census) SureEverywhere() (n int) {
	for i := range c.Functions {
		if len(c.Functions[i].Unsure) == 0 {
			n++
		}
	}
	return n
}
