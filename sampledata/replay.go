package sampledata

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Write writes the recording to a new folder, as [Create] does.
func (r *Recording) Write(dir string) error { return r.write(dir, Create) }

// Replace writes the recording in place of one that may exist, as the function
// [Replace] does.
func (r *Recording) Replace(dir string) error { return r.write(dir, Replace) }

func (r *Recording) write(dir string, create func(string, Header) (*Writer, error)) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("write recording %s: %w", dir, err)
	}
	w, err := create(dir, r.Header)
	if err != nil {
		return err
	}
	if err := r.replay(w); err != nil {
		_ = w.Close() // the first error is the cause
		return err
	}
	return w.Close()
}

var errProfile = errors.New("a profile has no samples: 'cpprof import' writes it as a pprof profile")

// replay passes a valid recording to an empty sink, sample by sample. The codes
// stay the same. Functions, nodes and other things are passed on just before
// the first sample that needs them, as a sampler does.
func (r *Recording) replay(sink Sink) error {
	if r.Profile != nil {
		return errProfile
	}
	n := naming{r: r, sink: sink, labelSets: 1, holderSets: 1}
	ends, endsBefore := r.ends()
	m := measuring{r: r, sink: sink}
	if err := m.begin(); err != nil {
		return err
	}
	var changes []Change
	run := 0
	for i := range r.Samples.Len() {
		changes = changes[:0]
		n.runs(run, i)
		n.upToLockName(i)
		for ; run < r.Runs.Len(); run++ {
			begun := r.Runs.At(run)
			if int(begun.First) > i {
				break
			}
			changes = append(changes, Change{Goroutine: begun.Goroutine, Again: true, State: begun.State()})
		}
		for _, e := range ends[endsBefore[i]:endsBefore[i+1]] {
			changes = append(changes, Change{Goroutine: r.Runs.At(int(e)).Goroutine, Gone: true})
		}
		slices.SortFunc(changes, func(a, b Change) int {
			return cmp.Compare(a.Goroutine, b.Goroutine)
		})
		if err := m.upTo(i); err != nil {
			return err
		}
		if i == r.Samples.Len()-1 { // not later, since a recording may lack an end
			r.replayNews(sink)
		}
		if err := sink.Sample(r.Samples.At(i), changes); err != nil {
			return err
		}
	}
	n.rest()
	if r.Samples.Len() == 0 {
		r.replayNews(sink)
	}
	for _, w := range r.Warnings {
		sink.Warn(w.Kind, w.Message, w.Count)
	}
	if r.End == nil {
		return nil
	}
	return sink.Finish(*r.End)
}

// replayNews passes on what does not belong to one sample.
func (r *Recording) replayNews(sink Sink) {
	for _, p := range r.Probes {
		sink.Probe(p)
	}
	for _, t := range r.Calls {
		sink.Calls(t)
	}
	if r.Marking != nil {
		sink.Mark(r.Marking)
	}
}

// ends returns the runs after which their goroutine is gone. They are ordered
// by the first sample without the goroutine: sample i has
// ends[before[i]:before[i+1]].
func (r *Recording) ends() (ends, before []int32) {
	next := make([]int32, r.Goroutines.Len()) // the first sample of the goroutine's next run
	before = make([]int32, r.Samples.Len()+1)
	gone := make([]bool, r.Runs.Len())
	for i := r.Runs.Len() - 1; i >= 0; i-- {
		run := r.Runs.At(i)
		gone[i] = run.Last+1 != next[run.Goroutine] && int(run.Last+1) < r.Samples.Len()
		next[run.Goroutine] = run.First
		if gone[i] {
			before[run.Last+2]++
		}
	}
	for i := range r.Samples.Len() {
		before[i+1] += before[i]
	}
	ends = make([]int32, before[r.Samples.Len()])
	at := append([]int32(nil), before...)
	for i, run := range r.Runs.All() {
		if gone[i] {
			s := run.Last + 1
			ends[at[s]] = int32(i)
			at[s]++
		}
	}
	return ends, before
}

// measuring passes the values of the series to a sink.
type measuring struct {
	r       *Recording
	sink    Sink
	cursors []cursor
	more    []bool // by series: the cursor is at a point
}

// begin passes all monitors to the sink.
func (m *measuring) begin() error {
	m.cursors, m.more = make([]cursor, len(m.r.Series)), make([]bool, len(m.r.Series))
	for i := range m.r.Series {
		s := &m.r.Series[i]
		m.sink.Monitor(s.Monitor)
		m.cursors[i] = s.column.cursor(s.form())
		var err error
		if m.more[i], err = m.cursors[i].advance(); err != nil {
			return err
		}
	}
	return nil
}

// upTo passes the values that changed in a sample to the sink. It is called for
// one sample after the other.
func (m *measuring) upTo(sample int) (err error) {
	for i := range m.cursors {
		c := &m.cursors[i]
		if !m.more[i] || int(c.sample) != sample {
			continue
		}
		m.sink.Measure(MonitorID(i), m.r.Series[i].value(c.reading))
		if m.more[i], err = c.advance(); err != nil {
			return err
		}
	}
	return nil
}

// naming passes functions, nodes and so on to a sink. It counts those that the
// sink has.
type naming struct {
	r          *Recording
	sink       Sink
	functions  int
	nodes      int
	goroutines int
	labelSets  int
	holderSets int
	lockNames  int
}

// runs names all that the runs of a sample refer to, from run on.
func (n *naming) runs(run, sample int) {
	var last State // the codes after the last ones
	var goroutine GoroutineID
	for ; run < n.r.Runs.Len(); run++ {
		r := n.r.Runs.At(run)
		if int(r.First) > sample {
			break
		}
		goroutine = max(goroutine, r.Goroutine+1)
		last.Stack = max(last.Stack, r.Stack+1, r.Release.Stack()+1)
		last.Labels = max(last.Labels, r.Labels+1)
		last.Holders = max(last.Holders, r.Holders+1)
	}
	n.upToNode(int(last.Stack))
	n.upToGoroutine(int(goroutine))
	n.upToLabelSet(int(last.Labels))
	n.upToHolderSet(int(last.Holders))
}

// rest passes on what no run refers to.
func (n *naming) rest() {
	n.upToFunction(len(n.r.Functions))
	n.upToNode(len(n.r.Nodes))
	n.upToGoroutine(n.r.Goroutines.Len())
	n.upToLabelSet(len(n.r.LabelSets))
	n.upToHolderSet(len(n.r.HolderSets))
	n.upToLockName(n.r.Samples.Len())
}

// upToLockName passes on the names of locks in their order. It stops at the
// first name that is valid only after the given sample.
func (n *naming) upToLockName(sample int) {
	for ; n.lockNames < len(n.r.LockNames) &&
		int(n.r.LockNames[n.lockNames].First) <= sample; n.lockNames++ {
		n.sink.LockName(n.r.LockNames[n.lockNames])
	}
}

func (n *naming) upToFunction(end int) {
	for ; n.functions < end; n.functions++ {
		n.sink.Function(n.r.Functions[n.functions])
	}
}

func (n *naming) upToNode(end int) {
	for ; n.nodes < end; n.nodes++ {
		node := n.r.Nodes[n.nodes]
		n.upToFunction(int(node.Function) + 1)
		n.sink.Node(node)
	}
}

func (n *naming) upToGoroutine(end int) {
	for ; n.goroutines < end; n.goroutines++ {
		g := n.r.Goroutines.At(GoroutineID(n.goroutines))
		n.upToFunction(int(g.Start) + 1)
		n.sink.Goroutine(g)
	}
}

func (n *naming) upToLabelSet(end int) {
	for ; n.labelSets < end; n.labelSets++ {
		n.sink.LabelSet(n.r.LabelSets[n.labelSets])
	}
}

func (n *naming) upToHolderSet(end int) {
	for ; n.holderSets < end; n.holderSets++ {
		set := n.r.HolderSets[n.holderSets]
		n.upToGoroutine(int(set[len(set)-1]) + 1)
		n.sink.HolderSet(set)
	}
}
