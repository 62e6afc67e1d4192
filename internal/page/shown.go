package page

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/cpprof/cpprof/views/calltree"
)

// shown is a page with what was made of it so far.
type shown struct {
	page *Page

	// They are held while something is made. Data take longest,
	// and keep no other question waiting.
	making, mu sync.Mutex
	made       []packed // the last one comes last
	until      time.Time

	lines    lineTotals
	table    *calls.Table
	proposed any
	timed    *overTime
}

// packed are the data of a page whose time is restricted to calls.
type packed struct {
	calls, mark string
	data        []byte
}

const (
	// keptData limits the data that are kept, of different calls.
	keptData = 4
	// longestText limits a condition and a function's name.
	longestText = 8 << 10
	// Data of a growing recording are made anew after a multiple
	// of the time that making them took, but at least minPause.
	pauses   = 10
	minPause = time.Second
)

func newShown(p *Page) *shown { return &shown{page: p, until: time.Now().Add(minPause)} }

// fresh returns until when the page is up to date.
func (s *shown) fresh() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.until
}

// data returns the packed data of the page, with only the time
// inside some calls; "" is all time.
func (s *shown) data(condition string) (packed, error) {
	s.making.Lock()
	defer s.making.Unlock()
	for i, m := range s.made {
		if m.calls == condition {
			s.made = append(slices.Delete(s.made, i, i+1), m)
			return m, nil
		}
	}
	began := time.Now()
	p, err := s.within(condition)
	if err != nil {
		return packed{}, err
	}
	data, err := Data(p)
	if err != nil {
		return packed{}, err
	}
	s.mu.Lock()
	s.until = time.Now().Add(max(minPause, pauses*time.Since(began)))
	s.mu.Unlock()
	m := packed{condition, fmt.Sprintf(`"%x"`, sha256.Sum256(data)), data}
	s.made = append(s.made[max(0, len(s.made)+1-keptData):], m)
	return m, nil
}

// within returns the page with only the time inside some calls;
// "" is all time.
func (s *shown) within(condition string) (*Page, error) {
	if condition == "" {
		return s.page, nil
	}
	table, c, err := s.tableOf(condition)
	if err != nil {
		return nil, err
	}
	p := *s.page
	if p.Recording, err = table.Restrict(c, p.Options.CreatedBy); err != nil {
		return nil, badRequest{err}
	}
	return &p, nil
}

// whole returns the recording with all its time.
func (p *Page) whole() *sampledata.Recording { return cmp.Or(p.Whole, p.Recording) }

// HasTimes reports whether the page can show goroutines over
// time, and their calls: it is not a comparison, a refined view,
// some samples or another tool's profile.
func (p *Page) HasTimes() bool {
	r := p.Recording
	return r.Profile == nil && r.Picked == nil && r.Header.Sampler.Backend != sampledata.FromDump && p.Tree == nil &&
		p.Against.Recording == nil
}

// tableOf returns the calls that a condition is about.
func (s *shown) tableOf(text string) (*calls.Table, calls.Condition, error) {
	if len(text) > longestText {
		return nil, calls.Condition{}, badRequest{fmt.Errorf("the condition has %d characters: want at most %d", len(text), longestText)}
	}
	function, c, err := calls.Parse(text)
	if err != nil {
		return nil, c, badRequest{err}
	}
	t, err := s.callsOf(function)
	return t, c, err
}

// callsOf returns the calls of a function. It keeps the last
// function's calls.
func (s *shown) callsOf(function string) (*calls.Table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.page.HasTimes():
		return nil, badRequest{errors.New("a comparison, a part of a view or of the samples, a profile or a dump has no calls")}
	case len(function) > longestText:
		return nil, badRequest{fmt.Errorf("the function's name has %d characters: want at most %d", len(function), longestText)}
	case s.table != nil && s.table.Function == function:
		return s.table, nil
	}
	t, err := calls.Of(s.page.whole(), function)
	if err != nil {
		return nil, badRequest{err}
	}
	s.table = t
	return t, nil
}

// lineTotals are the hits of a view's lines, within some calls.
type lineTotals struct {
	counted     report.LineTotals
	view, calls string
}

// source returns the source of a function in a view, by the
// names that the page has for them. It counts the hits of a
// view's lines on first use, and keeps one view's counts.
func (s *shown) source(q *question) (any, error) {
	view, function, condition := q.Get("view"), q.Get("function"), q.Get("calls")
	p, err := s.within(condition)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := &s.lines; l.counted == nil || l.view != view || l.calls != condition {
		v, err := p.byLine(view)
		if err != nil {
			return nil, badRequest{fmt.Errorf("source of %s: %w", function, err)}
		}
		s.lines = lineTotals{report.CountLines(v.Tree), view, condition}
	}
	return report.SourceOf(p.Recording, function, s.lines.counted[function]), nil
}

// byLine makes a view of the page by line.
func (p *Page) byLine(name string) (*views.View, error) {
	o := p.Options
	o.Granularity = views.ByLine
	switch {
	case name == calltree.RootName, p.Recording.Profile != nil:
		return views.Server(p.Recording, o)
	case name == "":
		return views.Threads(p.Recording, o)
	}
	return views.Thread(p.Recording, name, o)
}
