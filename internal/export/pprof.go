package export

import (
	"io"
	"math/big"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/google/pprof/profile"
)

// Pprof is the format of go tool pprof. Stacks have their lines
// and inlined calls, and typed time both as frames and as
// labels. Weights are exact: if they are not whole numbers, a
// second sample type has the rest, in parts of their common
// denominator.
var Pprof = &Format{
	Name:   "pprof",
	Help:   "a profile for go tool pprof, Pyroscope, Parca and others",
	File:   "run.pb.gz",
	Binary: true,
	write:  writePprof,
}

func writePprof(w io.Writer, s *Subject) error {
	p, err := PprofOf(s)
	if err != nil {
		return err
	}
	return p.Write(w)
}

// PprofOf returns what the format pprof writes.
func PprofOf(s *Subject) (*profile.Profile, error) {
	if s.wholeProfile() {
		return interchange.PprofOf(s.Recording) // with its own labels
	}
	if s.Compared() {
		t, err := differences(s)
		if err != nil {
			return nil, err
		}
		return s.pprof(unplaced(t))
	}
	p, err := s.placed()
	if err != nil {
		return nil, err
	}
	return s.pprof(p)
}

// wholeProfile reports whether the subject is all of a profile
// of another tool.
func (s *Subject) wholeProfile() bool {
	r := s.Recording
	if r == nil || r.Profile == nil || s.Refined || s.Compared() || s.Part ||
		s.Options.Granularity != 0 || s.Options.NoInlines {
		return false
	}
	t := s.Session.Tree()
	return calltree.KindOf(t.Root()) != calltree.Class &&
		t.Main().Cum(0).Cmp(r.Profile.Total(r.Profile.Shown[0])) == 0
}

func (s *Subject) pprof(p *placed) (*profile.Profile, error) {
	r, err := interchange.DetailedProfile(p.tree,
		interchange.Details{Call: p.call, Labels: newLabeller(p).labels})
	if err != nil {
		return nil, err
	}
	s.times(r.Profile)
	return interchange.PprofOf(r)
}

// times notes when a recording was made, and how often it looked.
func (s *Subject) times(p *sampledata.Profile) {
	r := s.Recording
	if r == nil {
		return
	}
	if of := r.Profile; of != nil {
		p.Start, p.Duration, p.Period = of.Start, of.Duration, of.Period
		return
	}
	stats := r.Stats()
	from, until := s.Times()
	p.Start, p.Duration = from, max(0, until.Sub(from))
	// without a sample, too: some readers need it
	p.Period = sampledata.Period{Name: "wall", Unit: "nanoseconds"}
	if stats.Samples > 0 {
		p.Period.Every = int64(stats.Duration / time.Duration(stats.Samples))
	}
}

// Times returns when that began and ended which the subject is
// about; the zero Time if that is not known.
func (s *Subject) Times() (from, until time.Time) {
	r := s.Recording
	if of := r.Profile; of != nil {
		return of.Start, of.Start.Add(of.Duration)
	}
	start, end := s.Options.Span.From, s.Options.Span.To
	if lasts := r.Stats().Duration; end == 0 || end > lasts {
		end = lasts
	}
	return r.Header.Start.Add(start), r.Header.Start.Add(end)
}

// differences returns a tree with three metrics for a
// comparison: the change of each stack's weight, its new weight,
// and its old weight. The old recording is scaled to the whole
// of the new one, so the change is of costs. For profiles it is
// of counts.
func differences(s *Subject) (*calltree.Tree, error) {
	t, err := s.Tree()
	if err != nil {
		return nil, err
	}
	a, b := t.Sides()
	main := a.Main()
	built := calltree.NewBuilder(new(calltree.Symbols), a.Root(), main.Name+"_difference",
		main.Unit)
	built.AddMetric(main.Name+"_new", main.Unit)
	built.AddMetric(main.Name+"_old", main.Unit)
	scale := big.NewRat(1, 1)
	if whole := b.Main().Denominator; whole.Sign() != 0 && s.Recording.Profile == nil {
		scale.Quo(main.Denominator, whole)
	}
	for metric := range 3 {
		built.SetDenominator(metric, main.Denominator)
	}
	for n, node := range built.AddNodes(t) {
		now, before := main.Own(int32(n)), b.Main().Own(int32(n))
		before.Mul(before, scale)
		built.AddRat(1, node, now)
		built.AddRat(2, node, before)
		built.AddRat(0, node, new(big.Rat).Sub(now, before))
	}
	return built.Tree()
}
