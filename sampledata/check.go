package sampledata

import (
	"cmp"
	"errors"
	"fmt"
)

// Check checks the rules that the readers of a recording rely on:
//
//   - Every code is an index into its table. Tables of sets begin with the
//     empty set. No table has an entry twice.
//   - Parents come before children.
//   - Runs are in order, do not overlap, lie within the samples, and are as
//     long as possible.
//   - Goroutines on a processor have a state.
//   - Series consist of changes only, to values that their monitors can have.
//   - Probes are of different functions, and their numbers are consistent.
//   - Timed calls do not end before they begin.
//
// The error names the first thing that breaks a rule.
func (r *Recording) Check() error {
	for _, check := range []func() error{r.checkHeader, r.checkTables, r.checkSets,
		r.checkLockNames, r.checkSamples, r.checkRuns, r.checkSeries, r.checkProbes, r.checkCalls, r.Marking.check,
		r.checkProfile, r.checkEnd} {
		if err := check(); err != nil {
			return fmt.Errorf("check recording: %w", err)
		}
	}
	return nil
}

func (r *Recording) sizes() sizes {
	return sizes{len(r.Functions), len(r.Nodes), r.Goroutines.Len(), len(r.LabelSets),
		len(r.HolderSets)}
}

func (r *Recording) checkHeader() error {
	if err := r.Header.check(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

// checkTables adds everything to new tables, which must assign
// the same codes again.
func (r *Recording) checkTables() error {
	t := newTables()
	for i, f := range r.Functions {
		if id, isNew := t.function(f); !isNew {
			return t.refused("function", i, int(id))
		}
	}
	for i, n := range r.Nodes {
		if id, isNew := t.node(n); !isNew {
			return t.refused("node", i, int(id))
		}
	}
	for i, g := range r.Goroutines.All() {
		if id, isNew := t.goroutine(g); !isNew {
			return t.refused("goroutine", int(i), int(id))
		}
	}
	return nil
}

// refused returns the reason why the tables assigned no new code.
func (t *tables) refused(what string, i, id int) error {
	if t.misuse != nil {
		return fmt.Errorf("%s %d: %w", what, i, errors.Unwrap(t.misuse))
	}
	return fmt.Errorf("%s %d is the same as %s %d", what, i, what, id)
}

// refusedLockName returns the reason why the tables did not take
// the name of a lock.
func (t *tables) refusedLockName(n LockName) error {
	if t.misuse != nil {
		return t.misuse
	}
	return fmt.Errorf("name of the lock at %#x: it is %q already", n.Address, n.Name)
}

func (r *Recording) checkSets() error {
	if len(r.LabelSets) == 0 || len(r.LabelSets[0]) != 0 {
		return fmt.Errorf("label set 0 is not the empty set")
	}
	if len(r.HolderSets) == 0 || len(r.HolderSets[0]) != 0 {
		return fmt.Errorf("holder set 0 is not the empty set")
	}
	t := newTables()
	t.sizes.goroutines = r.Goroutines.Len()
	for i, set := range r.LabelSets[1:] {
		if err := checkLabels(set); err != nil {
			return fmt.Errorf("label set %d: %w", i+1, err)
		}
		if id, isNew := t.labelSet(set); isNew == nil {
			return t.refused("label set", i+1, int(id))
		}
	}
	for i, set := range r.HolderSets[1:] {
		if err := t.sizes.holders(set); err != nil {
			return fmt.Errorf("holder set %d: %w", i+1, err)
		}
		if id, isNew := t.holderSet(set); isNew == nil {
			return t.refused("holder set", i+1, int(id))
		}
	}
	return nil
}

func (r *Recording) checkLockNames() error {
	t := newTables()
	t.samples = r.Samples.Len()
	for i, n := range r.LockNames {
		if !t.lockName(n) {
			return fmt.Errorf("lock name %d: %w", i, t.refusedLockName(n))
		}
	}
	return nil
}

func (r *Recording) checkSamples() error {
	if r.Samples.Len() > maxSamples {
		return fmt.Errorf("more than %d samples", maxSamples)
	}
	z := r.sizes()
	for i, s := range r.Samples.All() {
		if err := z.sample(&s); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
		if i > 0 && s.Time < r.Samples.Time(i-1) {
			return fmt.Errorf("sample %d: time %v is before that of the previous sample, %v",
				i, s.Time, r.Samples.Time(i-1))
		}
	}
	return nil
}

func (r *Recording) checkRuns() error {
	z := r.sizes()
	last := make([]int32, r.Goroutines.Len()) // by goroutine: 1 + its last run so far
	// the processors of all earlier samples have been checked
	sample := 0
	var before Run
	for i, run := range r.Runs.All() {
		if err := r.checkRun(run, &z); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
		if i > 0 && cmp.Or(cmp.Compare(before.First, run.First),
			cmp.Compare(before.Goroutine, run.Goroutine)) >= 0 {
			return fmt.Errorf("run %d: not in order after run %d", i, i-1)
		}
		for ; sample < int(run.First); sample++ {
			if err := r.checkProcessors(sample, last); err != nil {
				return err
			}
		}
		if p := last[run.Goroutine] - 1; p >= 0 {
			if err := checkSuccessive(r.Runs.At(int(p)), run); err != nil {
				return fmt.Errorf("run %d: %w run %d of the same goroutine", i, err, p)
			}
		}
		last[run.Goroutine] = int32(i + 1)
		before = run
	}
	for ; sample < r.Samples.Len(); sample++ {
		if err := r.checkProcessors(sample, last); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recording) checkRun(run Run, z *sizes) error {
	if run.Goroutine < 0 || int(run.Goroutine) >= z.goroutines {
		return fmt.Errorf("%d is none of the %d goroutines", run.Goroutine, z.goroutines)
	}
	if run.First < 0 || run.Last < run.First || int(run.Last) >= r.Samples.Len() {
		return fmt.Errorf("samples %d to %d are not within the %d samples", run.First,
			run.Last, r.Samples.Len())
	}
	return z.state(run.State())
}

// checkSuccessive checks two successive runs of one goroutine.
func checkSuccessive(before, run Run) error {
	if before.Last >= run.First {
		return fmt.Errorf("overlaps")
	}
	if before.Last+1 == run.First && before.State() == run.State() && !run.Run.waits() {
		return fmt.Errorf("should be one with")
	}
	return nil
}

// checkProcessors checks that every goroutine on a processor has
// a run that includes the sample. last has, by goroutine, the
// last run that begins at or before the sample.
func (r *Recording) checkProcessors(sample int, last []int32) error {
	for p, g := range r.Samples.At(sample).Processors {
		if g < 0 {
			continue
		}
		if last[g] == 0 || int(r.Runs.At(int(last[g]-1)).Last) < sample {
			return fmt.Errorf("sample %d: processor %d runs goroutine %d, which has no state",
				sample, p, g)
		}
	}
	return nil
}

func (r *Recording) checkEnd() error {
	kinds := make(map[string]bool)
	for i, w := range r.Warnings {
		if w.Kind == "" || w.Count < 1 {
			return fmt.Errorf("warning %d: want a kind and a count from 1 up, not %q and %d",
				i, w.Kind, w.Count)
		}
		if kinds[w.Kind] {
			return fmt.Errorf("warning %d: a second of kind %q", i, w.Kind)
		}
		kinds[w.Kind] = true
	}
	if r.End == nil {
		return nil
	}
	if err := r.End.check(); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	return nil
}
