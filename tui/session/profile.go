package session

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"

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
	Class     string // the class of the Thread View; "" for the Server View
	Steps     []refine.Step
	Threshold refine.Threshold
	Display   refine.Display
	Collapsed []string // keys of entries
	Labels    []callpath.Path
	Selected  string // the key of an entry; "" for the root
}

func (*Profile) Kind() Kind { return ProfileKind }

// KeepSteps copies the steps, the threshold and the collapsed entries of a
// refinement session into the window.
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

// Replay applies the window's steps to a tree. It leaves out a step that fails,
// for example because its stacks are not in the present span. It returns the
// errors.
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

// replayed replays the steps in a view. It adds a warning to the view's
// warnings for each step that was left out.
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

// Check checks the lengths of the lists, and parses the steps and keys.
// UnmarshalJSON has parsed the rest.
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
	if len(p.Labels) > maxLabels {
		return fmt.Errorf("%d labels: at most %d are possible", len(p.Labels), maxLabels)
	}
	return nil
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

// profileJSON is the form of a Profile in a file. Exact numbers are strings
// such as "5/2".
type profileJSON struct {
	Class     string        `json:"class,omitempty"`
	Steps     []refine.Step `json:"steps,omitempty"`
	MinHits   string        `json:"min_hits,omitempty"`
	MinCost   string        `json:"min_cost,omitempty"`
	Own       bool          `json:"own,omitempty"`
	ByOwn     bool          `json:"by_own,omitempty"`
	OfParent  bool          `json:"of_parent,omitempty"`
	Filter    string        `json:"filter,omitempty"`
	Collapsed []string      `json:"collapsed,omitempty"`
	Selected  string        `json:"selected,omitempty"`
	Labels    []string      `json:"labels,omitempty"` // paths
}

func (p *Profile) json() profileJSON {
	j := profileJSON{
		Class: p.Class, Steps: p.Steps, MinHits: exact(p.Threshold.Hits),
		MinCost:   exact(p.Threshold.Cost),
		Collapsed: p.Collapsed, Selected: p.Selected,
		Own: p.Display.Own, ByOwn: p.Display.ByOwn, OfParent: p.Display.OfParent,
		Filter: p.Display.Filter,
	}
	for _, label := range p.Labels {
		j.Labels = append(j.Labels, label.String())
	}
	return j
}

// profile returns the Profile that a file describes.
func (j *profileJSON) profile() (p Profile, err error) {
	p = Profile{Class: j.Class, Steps: j.Steps, Collapsed: j.Collapsed, Selected: j.Selected}
	p.Display = refine.Display{Own: j.Own, ByOwn: j.ByOwn, OfParent: j.OfParent, Filter: j.Filter}
	if p.Threshold.Hits, err = parseExact(j.MinHits); err != nil {
		return p, fmt.Errorf("min_hits: %w", err)
	}
	if p.Threshold.Cost, err = parseExact(j.MinCost); err != nil {
		return p, fmt.Errorf("min_cost: %w", err)
	}
	for _, label := range j.Labels {
		path, err := callpath.Parse(label)
		if err != nil {
			return p, fmt.Errorf("label: %w", err)
		}
		p.Labels = append(p.Labels, path)
	}
	return p, nil
}

// MarshalJSON writes the window in the form of a session file.
func (p *Profile) MarshalJSON() ([]byte, error) { return json.Marshal(p.json()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Profile) UnmarshalJSON(data []byte) error {
	var j profileJSON
	err := strict(data, &j)
	if err == nil {
		*p, err = j.profile()
	}
	return err
}

// exactNumber matches numbers that are cheap to read. big.Rat itself also reads
// exponents, which can take a lot of memory.
var exactNumber = regexp.MustCompile(`^[0-9]{1,100}(/[0-9]{0,99}[1-9][0-9]{0,99})?$`)

func parseExact(s string) (*big.Rat, error) {
	if s == "" {
		return nil, nil
	}
	if !exactNumber.MatchString(s) {
		return nil, fmt.Errorf("%.120q: want a number such as 10 or 1/20", s)
	}
	r, _ := new(big.Rat).SetString(s)
	return r, nil
}

// exact formats a number so that parseExact can read it; nil is "".
func exact(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return r.RatString()
}
