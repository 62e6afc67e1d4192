package why

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
)

// A Common is a finding of one of several recordings, with what
// the others say of it: of hosts, or of the minutes of one.
type Common struct {
	*Finding                     // of the recording that it costs most
	In       int                 `json:"in"`               // that recording
	Shares   []hotspots.Estimate `json:"shares,omitempty"` // by recording
	// by recording: whether it is a finding there. It may hold if
	// the share is as large
	Holds []hotspots.Verdict `json:"holds"`
	// the recording, of three or more, whose share is beyond the
	// intervals of all others; -1 if there is none
	StandsOut int `json:"stands_out"`
}

// Together searches recordings of one program. Findings that
// hold in most of them come first.
func Together(recordings []*sampledata.Recording, o Options) ([]*Common, error) {
	o.Views = o.Views.WithWrappers(recordings...)
	searches := make([]*searched, len(recordings))
	byKey := make(map[string]*Common)
	var all []*Common
	for i, r := range recordings {
		s, err := findIn(r, o)
		if err != nil {
			return nil, err
		}
		searches[i] = s
		for _, f := range s.Findings {
			c := byKey[f.key]
			if c == nil {
				c = &Common{Finding: f, In: i, StandsOut: -1}
				byKey[f.key] = c
				all = append(all, c)
			}
			if f.Severity > c.Severity {
				c.Finding, c.In = f, i
			}
		}
	}
	for _, s := range searches {
		s.join(all)
	}
	for _, c := range all {
		c.compare()
	}
	slices.SortStableFunc(all, func(a, b *Common) int {
		return cmp.Or(cmp.Compare(b.holding(), a.holding()), cmp.Compare(b.rank(), a.rank()))
	})
	return all, nil
}

// join adds what a recording says of findings.
func (s *searched) join(all []*Common) {
	tested := make([]*Finding, len(all))
	for i, c := range all {
		f := *c.Finding
		f.Before = nil
		tested[i] = &f
	}
	if s.State != TooLittle {
		s.remember(tested)
	}
	for i, c := range all {
		holds, share := hotspots.No, hotspots.Estimate{High: 1}
		if before := tested[i].Before; before != nil {
			share = before.Share
		}
		if found := slices.IndexFunc(s.Findings, func(f *Finding) bool { return f.key == c.key }); found >= 0 {
			holds = hotspots.Yes
			if f := s.Findings[found]; !f.Phase && !c.Phase {
				share = f.Share
			}
		} else if !c.stands() && share.Against(s.o.Threshold) != hotspots.No {
			holds = hotspots.Maybe // it may be no finding for another reason
		}
		if !c.stands() {
			c.Shares = append(c.Shares, share)
		}
		c.Holds = append(c.Holds, holds)
	}
}

// compare finds the recording that stands out.
func (c *Common) compare() {
	for i, e := range c.Shares {
		above := len(c.Shares) > 2 // of two, neither is usual
		for j, other := range c.Shares {
			above = above && (i == j || e.Low > other.High)
		}
		if above {
			c.StandsOut = i
		}
	}
}

// holding returns the number of recordings in which it holds.
func (c *Common) holding() int {
	return lists.Count(c.Holds, func(holds hotspots.Verdict) bool { return holds == hotspots.Yes })
}
