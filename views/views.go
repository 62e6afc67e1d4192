// Package views turns a recording into weighted call trees: the Server View and the Thread Views of CPPROFJ
// (section 4), in which typed time stands below the stacks as ordinary frames.
//
// A view is built in one walk over the recording's runs. What a goroutine does alone (it waits, or it runs under
// the accounting Observed) is counted once a run. Only where its time depends on others (it is runnable,
// it waits for a lock with a known holder) is there work in each sample, once for all goroutines that are
// alike. The files follow that way:
//
//	walk.go     through the samples, from run to run
//	classes.go  thread classes and priorities
//	scene.go    what all goroutines do in a sample; who holds the processors
//	spread.go   the accountings: how a hit is divided (field.go counts the competitors)
//	tree.go     hits into the call tree; chains of locks (frames.go names and places the stacks,
//	            terms.go collects hits that recur from sample to sample, inlines.go tells what was inlined)
//	summary.go  the same sums by class without a tree, and over time (timeline.go)
//	holders.go  who held the locks, by lock; monitor.go sums up what a tree says of it
//	parties.go  whom goroutines may wait for where that is no lock
package views

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// A View is a call tree and what went less than well in making it.
type View struct {
	Tree *calltree.Tree

	// Warnings count hits: "unknown-state" (counted as :WAIT :unknown), "deep-stack" (cut to 1,000 frames),
	// and holders of locks that were not followed: "cut-chain".
	Warnings []sampledata.Warning
}

// Server makes the Server View: root "*", the :RUN parts of every goroutine. Hits are goroutine samples; the
// denominator is the sum over the samples of the number of processors, or of running goroutines where those
// are more (Single: the number of samples), so that the root's cost is the CPU utilisation. The recording is
// one that Recording.Check finds no fault with.
func Server(r *sampledata.Recording, o Options) (*View, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("server view: %w", err)
	}
	b := newBuilder(newScene(r, o), calltree.RootName)
	b.server = true
	v, err := b.view(from, to)
	if err != nil {
		return nil, fmt.Errorf("server view: %w", err)
	}
	return v, nil
}

// Thread makes the Thread View of a class: the class is the root, each of its goroutines gives one hit in
// each sample, and the denominator is the number of these, so that the root's cost is 1. A class that has no
// goroutine in the span is an *UnknownClassError.
func Thread(r *sampledata.Recording, class string, o Options) (*View, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("thread view of %s: %w", class, err)
	}
	b := newBuilder(newScene(r, o), class)
	b.class = b.scene.classes.intern(class)
	v, err := b.view(from, to)
	if err != nil {
		return nil, fmt.Errorf("thread view of %s: %w", class, err)
	}
	if b.total == 0 {
		return nil, unknownClassError(r, o, class)
	}
	return v, nil
}

func (b *builder) view(from, to int32) (*View, error) {
	if err := Walk(b.scene.r, from, to, b); err != nil {
		return nil, err
	}
	b.settleAll()
	b.tree.SetDenominator(0, new(big.Rat).SetInt64(b.total))
	t, err := b.tree.Tree()
	if err != nil {
		return nil, err
	}
	return &View{Tree: t, Warnings: b.warnings}, nil
}

// samples checks the options, and returns the samples [from, to) of the span.
func (o Options) samples(r *sampledata.Recording) (from, to int32, err error) {
	if int(o.Accounting) >= len(accountingNames) {
		return 0, 0, fmt.Errorf("unknown accounting %d", o.Accounting)
	}
	if int(o.Granularity) >= len(granularityNames) {
		return 0, 0, fmt.Errorf("unknown granularity %d", o.Granularity)
	}
	return o.Span.Samples(r)
}
