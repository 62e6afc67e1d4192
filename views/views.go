// Package views turns a recording into weighted call trees: the
// Server View and the Thread Views of CPPROFJ (section 4). In
// these, typed time is an ordinary frame below the stacks.
//
// Every sample stands for some time (sampledata.Weights). A hit
// is a goroutine in a sample, and weighs that time: costs are
// shares of time. Beside the weights, everything here counts the
// hits, which say how many observations a cost is based on.
//
// A view is built in one walk over the recording's runs. If a
// goroutine's time does not depend on others (it waits, or it
// runs under the accounting Observed), it is counted once for
// each run. Only if it does (it is runnable, or it waits for a
// lock with a known holder) is there work in each sample, once
// for all goroutines in the same state. The files are, in the
// order of the work:
//
//	walk.go     walks through the samples, from run to run
//	classes.go  thread classes and priorities
//	scene.go    states of all goroutines in a sample; holders of the processors
//	idle.go     goroutines that wait for work
//	spread.go   the accountings: how a hit is divided (field.go counts the competitors)
//	tree.go     adds hits to the call tree; chains of locks (frames.go names and adds the stacks,
//	            terms.go collects hits that recur from sample to sample, inlines.go finds inlined calls)
//	summary.go  the same sums by class without a tree, and over time (timeline.go)
//	size.go     the limit on the size of the tree
//	holders.go  holders of locks, by lock; monitor.go sums up their part of a tree
//	candidates.go  goroutines that others may wait for, other than for locks
//	history.go  in which samples each stack got its hits (moments.go keeps that short)
//	profile.go  the views of another tool's profile, which has no samples
package views

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// Nanoseconds is the unit of the weights of views.
const Nanoseconds = "nanoseconds"

// A View is a call tree, with warnings about its making.
type View struct {
	Tree *calltree.Tree

	// Idle is the waiting for work that the tree lacks, see
	// Options.LeaveOutIdle.
	Idle calltree.Total

	// Warnings count hits: "unknown-state" (counted as :WAIT :unknown),
	// "deep-stack" (cut to 1,000 frames), and "cut-chain" (further holders of
	// locks are not shown).
	Warnings []sampledata.Warning
}

// IdleShare returns the share of waiting for work that the tree
// lacks, of all time of the goroutines.
func (v *View) IdleShare() *big.Rat {
	if v.Idle.Weight == nil || v.Idle.Weight.Sign() == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(v.Idle.Weight,
		new(big.Rat).Add(v.Idle.Weight, v.Tree.Main().Denominator))
}

// Server makes the Server View: its root is "*", and it has the
// :RUN parts of every goroutine. Weights are nanoseconds. The
// root's cost is the CPU utilisation. For that, each sample adds
// to the denominator its weight times the number of processors,
// or of running goroutines if there are more of them. With the
// accounting Single, each sample adds its weight alone. The
// Server View of a profile is all of the profile.
// Recording.Check must accept the recording.
func Server(r *sampledata.Recording, o Options) (*View, error) {
	const what = "server view"
	if r.Profile != nil {
		return profileView(r, o, what, "")
	}
	v, _, err := limitedView(r, o, what, calltree.RootName, func(b *builder) { b.server = true })
	return v, err
}

// Thread makes the Thread View of a class. The class is the
// root, and each of its goroutines adds one hit in each sample.
// The denominator is the weight of these hits, and the root's
// cost is 1. If the goroutines do nothing but wait for work,
// this is not left out. The error is an *UnknownClassError if
// the class has no goroutine in the span.
func Thread(r *sampledata.Recording, class string, o Options) (*View, error) {
	what := "thread view of " + class
	if r.Profile != nil {
		return profileView(r, o, what, class)
	}
	v, b, err := limitedView(r, o, what, class, func(b *builder) {
		b.class = b.scene.classes.names.Number(class)
	})
	switch {
	case err != nil:
		return nil, err
	case b.total.Hits().Sign() > 0:
		return v, nil
	case b.idle.Hits().Sign() == 0:
		return nil, unknownClassError(r, o, class)
	}
	o.LeaveOutIdle = false
	return Thread(r, class, o)
}

// Threads makes the Thread Views of all classes as one tree.
// Below its root, "*", each view has its class as outermost
// frame. The denominator is the weight of all hits. For a
// profile it is the Server View.
func Threads(r *sampledata.Recording, o Options) (*View, error) {
	const what = "view of all classes"
	if r.Profile != nil {
		return profileView(r, o, what, "")
	}
	v, _, err := limitedView(r, o, what, calltree.RootName, func(b *builder) {
		b.threads, b.maxChained, b.maxFirst = true, maxHolderNodes, maxFirstNodes
	})
	return v, err
}

func (b *builder) view(from, to int32) (*View, error) {
	if b.scene.o.Slices && b.history == nil {
		b.history = slicedHistorian(b.scene.r, to-from)
	}
	if err := Walk(b.scene.r, from, to, b); err != nil {
		return nil, err
	}
	b.flushAll()
	b.tree.SetDenominator(0, b.total.Weight())
	b.tree.CountHits(0, b.total.Hits())
	t, at, err := b.tree.Numbered()
	if err != nil {
		return nil, err
	}
	b.at = at
	if b.scene.o.Slices {
		t.Main().SetSlices(b.slices(from, to, t.Len()))
	}
	return &View{Tree: t, Idle: calltree.TotalOf(&b.idle), Warnings: b.warnings}, nil
}

// samples checks the options, and returns the samples [from, to)
// of the span.
func (o Options) samples(r *sampledata.Recording) (from, to int32, err error) {
	if int(o.Accounting) >= len(accountingNames) {
		return 0, 0, fmt.Errorf("unknown accounting %d", o.Accounting)
	}
	if int(o.Granularity) >= len(granularityNames) {
		return 0, 0, fmt.Errorf("unknown granularity %d", o.Granularity)
	}
	if o.CreatedBy {
		if err := CheckCreators(r); err != nil {
			return 0, 0, err
		}
	}
	return o.Span.Samples(r)
}
