package session

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// ProfileKind is the kind of window that shows the profile of a view.
var ProfileKind = Kind{Name: "profile", New: func() Window { return new(Profile) }}

// A Profile is a window with a refined view.
type Profile struct {
	Class string        `json:"class,omitempty"` // of the Thread View; "" for the Server View
	Steps []refine.Step `json:"steps,omitempty"`
	refine.Threshold
	refine.Display
	Collapsed []string        `json:"collapsed,omitempty"` // keys of entries
	Selected  string          `json:"selected,omitempty"`  // the key of an entry; "" for the root
	Labels    []callpath.Path `json:"labels,omitempty"`
}

func (*Profile) Kind() Kind { return ProfileKind }

// KeepSteps copies the steps, the threshold and the collapsed
// entries of a refinement session into the window.
func (p *Profile) KeepSteps(s *refine.Session) {
	p.Steps, p.Threshold, p.Display, p.Collapsed = s.Steps(), s.Threshold(), s.Display(), nil
	p.keepCollapsed(s, s.Root())
}

func (p *Profile) keepCollapsed(s *refine.Session, e *refine.Entry) {
	if s.Collapsed(e) {
		p.Collapsed = append(p.Collapsed, e.Key())
	}
	for _, c := range e.Children {
		p.keepCollapsed(s, c)
	}
}

// View builds the view of a window.
func (p *Profile) View(r *sampledata.Recording, o views.Options) (*views.View, error) {
	if p.Class == "" {
		return views.Server(r, o)
	}
	return views.Thread(r, p.Class, o)
}

// Replay applies the window's steps to a tree. It leaves out a
// step that fails, for example because its stacks are not in the
// present span. It returns the errors.
func (p *Profile) Replay(t *calltree.Tree, m *calltree.Membership) (*refine.Session, []error) {
	s := refine.NewSession(t, m)
	s.SetThreshold(p.Threshold)
	s.SetDisplay(p.Display)
	var errs []error
	for _, step := range p.Steps {
		if err := s.Apply(step); err != nil {
			errs = append(errs, err)
		}
	}
	for _, key := range p.Collapsed {
		path, err := callpath.Parse(key)
		if err != nil {
			errs = append(errs, fmt.Errorf("collapse: %w", err))
			continue
		}
		s.Collapse(path, true)
	}
	return s, errs
}

// replayed replays the steps in a view. It adds a warning to the
// view's warnings for each step that was left out.
func (p *Profile) replayed(v *views.View, src *Source) (*refine.Session, []sampledata.Warning) {
	s, failed := p.Replay(v.Tree, src.Config.AllAspects().Membership(v.Tree.Symbols()))
	warnings := v.Warnings
	for _, err := range failed {
		warnings = append(warnings,
			sampledata.Warning{Kind: "step", Message: "left out: " + err.Error(), Count: 1})
	}
	return s, warnings
}

// Report returns the profile with the window's refinements.
func (p *Profile) Report(src *Source) (report.Report, error) {
	v, err := p.View(src.Recording, src.Options)
	if err != nil {
		return nil, err
	}
	return p.report(v, report.Title(src.Recording, v.Tree.Root(), src.Options, v.IdleShare()),
		src), nil
}

// report returns a view with the window's refinements.
func (p *Profile) report(v *views.View, title string, src *Source) *report.Profile {
	s, warnings := p.replayed(v, src)
	return &report.Profile{Session: s, Labels: p.Labels, Title: title, Warnings: warnings,
		Basis: report.BasisOf(src.Recording), Color: src.Color, Width: src.Width}
}

// Check checks the lengths of the lists and the threshold, and
// parses the steps and keys.
func (p *Profile) Check() error {
	if len(p.Steps) > maxSteps {
		return fmt.Errorf("there are more than %d steps", maxSteps)
	}
	for i, step := range p.Steps {
		if err := checkStep(step); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	for _, key := range append([]string{p.Selected}, p.Collapsed...) {
		if key == "" {
			continue
		}
		if _, err := callpath.Parse(key); err != nil {
			return err
		}
	}
	return cmp.Or(atMost(maxLabels, len(p.Labels), "labels"), checkExact("min_hits", p.Hits),
		checkExact("min_cost", p.Cost))
}

func checkStep(s refine.Step) (err error) {
	switch s.Kind {
	case refine.KindPrune:
		_, err = callpath.ParseExpr(s.Text)
	case refine.KindUp:
		_, _, err = callpath.ParseSplit(s.Text)
	default:
		_, err = callpath.Parse(s.Text)
	}
	return err
}

// maxBits is the most binary digits of a threshold.
const maxBits = 700

func checkExact(key string, r *big.Rat) error {
	if r != nil && (r.Sign() < 0 || r.Num().BitLen()+r.Denom().BitLen() > maxBits) {
		return fmt.Errorf("%s: %.120q: want a number such as 10 or 1/20", key, r)
	}
	return nil
}
