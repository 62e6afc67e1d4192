package report

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// Title returns the title of a view of a recording, from the
// root of its tree, the options with which it was made, and the
// share of waiting for work that it lacks, for example "Thread
// View of go:main.worker (observed accounting, without 93.9 %
// that waited for work)". A view of a profile is called after
// what it counts: "alloc_space of go:main.worker".
func Title(r *sampledata.Recording, root string, o views.Options, idle *big.Rat) string {
	if r.Profile != nil {
		return profileTitle(r.Profile, root, o)
	}
	name := "Server View"
	if root != calltree.RootName {
		name = "Thread View of " + root
	}
	name += " (" + o.Accounting.String() + " accounting"
	if o.Granularity != views.ByFunction {
		name += ", by " + o.Granularity.String()
	}
	if o.CreatedBy {
		name += ", goroutines charged to their creators"
	}
	if idle.Sign() > 0 {
		name += ", without " + percent(idle) + " that waited for work"
	}
	if p := r.Picked; p != nil {
		name += ", " + pickedText(r) + " (" + p.List + ")"
	}
	if in := r.Restricted; in != nil {
		name += ", in " + restrictedText(in)
	}
	if o.Span != (views.Span{}) {
		name += ", " + o.Span.String()
	}
	return name + ")"
}

// restrictedText returns which calls count: "59 calls (main.handle > p99)".
func restrictedText(in *sampledata.Restricted) string {
	return Counted(in.Stretches, "call") + " (" + in.List + ")"
}

// pickedText returns how many samples a recording has of another
// one: "12 of 300 samples".
func pickedText(r *sampledata.Recording) string {
	return fmt.Sprintf("%d of %s", r.Samples.Len(), Counted(r.Picked.Of, "sample"))
}

func profileTitle(p *sampledata.Profile, root string, o views.Options) string {
	title := p.Main().Name
	if root != calltree.RootName {
		title += " of " + root
	}
	if o.Granularity != views.ByFunction {
		title += " (by " + o.Granularity.String() + ")"
	}
	return title
}
