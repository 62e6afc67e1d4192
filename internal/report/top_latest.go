package report

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// FewSteps is the largest number of refinements of a view that should fit one
// or two screens.
const FewSteps = 12

// ErrNoSamples reports that none of the latest samples is in the list of
// those that count.
var ErrNoSamples = errors.New("none of the latest samples is in the list")

// Latest returns the Top of the window before the last sample of a recording,
// which must have samples. The samples that count are the recording's, or a
// part of them.
func Latest(r, counted *sampledata.Recording, c *config.Config, o views.Options,
	window time.Duration) (*Top, error) {
	last := r.Samples.Time(r.Samples.Len() - 1)
	from := max(0, last-window)
	o.Span = views.Span{From: from}
	top := &Top{Title: fmt.Sprintf("%s, process %d", Program(r), r.Header.PID), Span: last - from}
	for _, sample := range r.Samples.All() {
		if sample.Time >= from {
			top.Samples++
			top.Halted += sample.Halt
		}
	}
	if p := counted.Picked; p != nil {
		top.List, top.Counted = p.List, counted.Samples.Len()-counted.Samples.Search(from)
		if top.Counted == 0 {
			return nil, fmt.Errorf("%w %q: %s in %s", ErrNoSamples, top.List,
				Counted(top.Samples, "sample"), span(top.Span))
		}
	}
	var err error
	if top.Classes, err = views.Classes(counted, o); err != nil {
		return nil, err
	}
	server, err := views.Server(counted, o)
	if err != nil {
		return nil, err
	}
	top.Session = refine.NewSession(server.Tree, c.AllAspects().Membership(server.Tree.Symbols()))
	top.Session.SetThreshold(c.Threshold)
	top.Session.Auto(top.Session.Root().Path, FewSteps)
	top.Warnings = slices.Concat(r.Warnings, server.Warnings)
	return top, nil
}
