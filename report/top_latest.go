package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// FewSteps bounds the refinements of a view that is to fit a screen or two.
const FewSteps = 12

// Latest is the Top of the end of a recording: of the window before its last sample. The recording has samples.
func Latest(r *sampledata.Recording, c *config.Config, o views.Options, window time.Duration) (*Top, error) {
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
	var err error
	if top.Classes, err = views.Classes(r, o); err != nil {
		return nil, err
	}
	server, err := views.Server(r, o)
	if err != nil {
		return nil, err
	}
	top.Session = refine.NewSession(server.Tree, c.AllAspects().Membership(server.Tree.Symbols()))
	top.Session.SetThreshold(c.Threshold)
	top.Session.Auto(FewSteps)
	top.Warnings = slices.Concat(r.Warnings, server.Warnings)
	return top, nil
}
