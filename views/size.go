package views

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
)

const (
	// maxChain is the greatest number of holders in a chain of locks.
	maxChain = 64

	// maxNodes limits the size of a view, to twice the largest
	// one that the project plans for.
	maxNodes = 20_000_000

	// maxHolderNodes limits the view of the holders of locks. In
	// a view of all classes, chains of holders may make many
	// more nodes: each chain is there for every class that waits
	// at its beginning.
	maxHolderNodes = 500_000

	// maxFirstNodes limits it if there is only one holder in a
	// chain. If even these have more stacks, only their classes
	// are shown.
	maxFirstNodes = 1_000_000

	// slicesMemory is what a node takes besides if it is noted
	// when its stacks got their hits.
	slicesMemory = 150

	// nodeMemory is about the bytes that a node takes while a
	// view is made: in the builder of the tree, and in the tree.
	nodeMemory = 100
)

// maxNodes returns the limit on the size of a view.
func (o Options) maxNodes() int {
	size := int64(nodeMemory)
	if o.Slices {
		size += slicesMemory
	}
	return int(min(maxNodes, memory.NewBudget(o.MaxMemory).Max()/size))
}

// A sizeError is returned if a view has too many nodes.
type sizeError struct {
	max int
	// with chains of at most this many holders, the view has
	// probably few enough nodes; -1: no chains are short enough
	chain int
}

func (e *sizeError) Error() string {
	hint := ""
	if e.max < maxNodes {
		hint = ", or allow more memory with --max-memory"
	}
	return fmt.Sprintf("the call tree grows beyond %d nodes: choose a shorter time span, or a coarser granularity%s", e.max, hint)
}

// checkSize returns a *sizeError if the view has too many nodes.
// It is called after each sample.
//
// The nodes are counted by the number of holders on the way to
// them. With fewer holders, the view so far should have three
// quarters of the nodes that are allowed, because it still
// grows. For example, if the limit is 1,000 nodes, and 40 are
// above all holders, 50 below one, and 911 below two, then one
// holder is allowed.
func (b *builder) checkSize() error {
	n := b.tree.Len()
	if n > b.maxNodes {
		return &sizeError{b.maxNodes, b.shorterChains(b.maxNodes)}
	}
	most := b.maxChained
	if b.maxChain == 1 {
		most = b.maxFirst
	}
	if b.maxChained == 0 || n <= most {
		return nil
	}
	chain := b.shorterChains(b.maxChained)
	switch {
	case chain >= 0 && b.maxChain > 1: // who waits for whom is what such a view is for, so that the first holder stays if it can
		return &sizeError{most, max(chain, 1)}
	case chain >= 0 && b.maxChain == 1:
		return &sizeError{most, 0}
	}
	b.maxChained = 0 // it is large without chains
	return nil
}

// shorterChains returns how many holders a chain may have so
// that the view probably keeps within a number of nodes; -1 if
// it exceeds that even without holders.
func (b *builder) shorterChains(maxNodes int) int {
	below := b.tree.CountBelow(b.isMonitor)
	if b.lock != nil {
		below = slices.Insert(below, 0, 0) // the frames of locks stand for :MONITOR
	}
	chain, nodes := -1, 0
	for holders, n := range below[:min(len(below), b.maxChain)] {
		nodes += n
		if nodes > maxNodes/4*3 {
			break
		}
		chain = holders
	}
	return chain
}

// limitedView makes a view with a builder that set prepares. If
// the view has too many nodes because the holders of locks wait
// for locks in many ways, limitedView begins anew, with shorter
// chains of holders. Errors say what the view is.
func limitedView(r *sampledata.Recording, o Options, what, root string,
	set func(*builder)) (*View, *builder, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	for chain := maxChain; ; {
		b := newBuilder(newScene(r, o), root)
		b.maxChain = chain
		set(b)
		v, err := b.view(from, to)
		if err == nil {
			return v, b, nil
		}
		var size *sizeError
		if !errors.As(err, &size) || size.chain < 0 {
			return nil, nil, fmt.Errorf("%s: %w", what, err)
		}
		chain = size.chain
	}
}
