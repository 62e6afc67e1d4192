package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views"
)

// The limits of a file. They are far above what a person needs.
const (
	maxFile    = 4 << 20 // bytes
	maxWindows = 100
	maxSteps   = 10_000 // of a window
	maxAspects = 1_000
	maxLabels  = 1_000 // of a window
	maxFolded  = 1_000 // calls of a window
	maxPath    = 4096  // bytes
	maxLists   = 1_000 // of samples; and of lanes
	maxExpr    = 4096  // bytes of a metric, or of a list of samples
)

// formatVersion is the version that Marshal writes and Parse reads.
const formatVersion = 5

// fileJSON is the content of the file. Times are in nanoseconds.
type fileJSON struct {
	Version    int                 `json:"version"`
	Accounting string              `json:"accounting"`
	By         string              `json:"by"`
	ClassBy    string              `json:"class_by"`
	NoInlines  bool                `json:"no_inlines,omitempty"`
	Idle       bool                `json:"idle,omitempty"` // waiting for work is not left out
	CreatedBy  bool                `json:"created_by,omitempty"`
	From       time.Duration       `json:"from,omitempty"`
	To         time.Duration       `json:"to,omitempty"`
	Aspects    []patternsJSON      `json:"aspects,omitempty"`
	Merges     []patternsJSON      `json:"merges,omitempty"`
	Lists      []config.Definition `json:"lists,omitempty"`
	Samples    string              `json:"samples,omitempty"`
	Calls      string              `json:"calls,omitempty"`
	Summary    Summary             `json:"summary,omitzero"`
	Windows    []windowJSON        `json:"windows"`
	Active     int                 `json:"active"` // 1 + an index of windows, 0 for the Summary window
}

// patternsJSON is an aspect, or a config.Merge.
type patternsJSON struct {
	Name     string   `json:"name"`
	Patterns []string `json:"patterns"`
}

func patternsOf(name string, patterns []aspects.Pattern) patternsJSON {
	return patternsJSON{name, lists.Each(patterns, aspects.Pattern.String)}
}

type windowJSON struct {
	Kind  string          `json:"kind"`
	State json.RawMessage `json:"state"` // in the form of the kind
}

// Marshal returns the content of a file with the state: JSON
// that Parse reads. It fails for a state that Parse would
// refuse.
func (s *State) Marshal() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	o := s.Options
	f := fileJSON{
		Version: formatVersion, Accounting: o.Accounting.String(), By: o.Granularity.String(),
		ClassBy:   o.Classes.String(),
		NoInlines: o.NoInlines, Idle: !o.LeaveOutIdle, CreatedBy: o.CreatedBy, From: o.Span.From, To: o.Span.To,
		Samples: s.Samples, Calls: s.Calls, Lists: s.Lists, Summary: s.Summary, Active: s.Active,
		Windows: []windowJSON{},
	}
	f.Aspects = lists.Each(s.Aspects,
		func(a aspects.Aspect) patternsJSON { return patternsOf(a.Name(), a.Patterns()) })
	f.Merges = lists.Each(s.Merges,
		func(m config.Merge) patternsJSON { return patternsOf(m.Name, m.Classes) })
	for _, w := range s.Windows {
		state, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		f.Windows = append(f.Windows, windowJSON{w.Kind().Name, state})
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	return data, checkSize(data)
}

// Parse reads the content of a file, and checks all of it.
// Windows must be of the given kinds.
func Parse(data []byte, kinds []Kind) (*State, error) {
	if err := checkSize(data); err != nil {
		return nil, err
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.Version != formatVersion {
		return nil, fmt.Errorf("format version %d, but this cpprof reads version %d: ignore it with --fresh",
			version.Version, formatVersion)
	}
	var f fileJSON
	if err := strict(data, &f); err != nil {
		return nil, err
	}
	s, err := f.state()
	if err != nil {
		return nil, err
	}
	if s.Windows, err = readWindows(f.Windows, kinds); err != nil {
		return nil, err
	}
	return s, s.check()
}

func checkSize(data []byte) error {
	if len(data) > maxFile {
		return fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return nil
}

// strict reads JSON, and fails for an unknown field.
func strict(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func readWindows(list []windowJSON, kinds []Kind) (windows []Window, err error) {
	for n, j := range list {
		i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == j.Kind })
		if i < 0 {
			return nil, fmt.Errorf("window %d: unknown kind of window %.120q", n+1, j.Kind)
		}
		if len(j.State) == 0 {
			return nil, fmt.Errorf("window %d: it has no state", n+1)
		}
		w := kinds[i].New()
		if err := strict(j.State, w); err != nil {
			return nil, fmt.Errorf("window %d: %w", n+1, err)
		}
		windows = append(windows, w)
	}
	return windows, nil
}

// state returns the state in the file, without the windows.
func (f *fileJSON) state() (*State, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	s := &State{Options: o, Summary: f.Summary, Samples: f.Samples, Calls: f.Calls, Active: f.Active}
	for _, j := range f.Aspects {
		a, err := aspects.New(j.Name, j.Patterns...)
		if err != nil {
			return nil, fmt.Errorf("aspect %q: %w", j.Name, err)
		}
		s.Aspects = append(s.Aspects, a)
	}
	for _, j := range f.Merges {
		m, err := config.NewMerge(j.Name, j.Patterns...)
		if err != nil {
			return nil, fmt.Errorf("merge %q: %w", j.Name, err)
		}
		s.Merges = append(s.Merges, m)
	}
	for _, j := range f.Lists {
		l, err := config.NewDefinition(j.Name, j.Expr)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		s.Lists = append(s.Lists, l)
	}
	return s, nil
}

func (f *fileJSON) options() (o views.Options, err error) {
	if o.Accounting, err = views.ParseAccounting(f.Accounting); err != nil {
		return o, err
	}
	if o.Granularity, err = views.ParseGranularity(f.By); err != nil {
		return o, err
	}
	if o.Classes, err = views.ParseClassBy(f.ClassBy); err != nil {
		return o, err
	}
	o.Span = views.Span{From: f.From, To: f.To}
	o.NoInlines = f.NoInlines
	o.LeaveOutIdle, o.CreatedBy = !f.Idle, f.CreatedBy
	return o, nil
}

// check returns an error if a file can't hold the state.
func (s *State) check() error {
	if span := s.Options.Span; span.From < 0 || span.To < 0 || span.To > 0 && span.To <= span.From {
		return fmt.Errorf("the span from %v to %v: want offsets from the start, the first before the second", span.From, span.To)
	}
	if err := cmp.Or(
		atMost(maxAspects, len(s.Aspects), "aspects"),
		atMost(maxAspects, len(s.Merges), "merged classes"),
		s.checkLists(),
		atMost(maxWindows, len(s.Windows), "windows"),
	); err != nil {
		return err
	}
	if s.Active < 0 || s.Active > len(s.Windows) {
		return fmt.Errorf("window %d is active, but there are only %d", s.Active, len(s.Windows))
	}
	if err := checkPath(s.Summary.Against); err != nil {
		return fmt.Errorf("the summary: %w", err)
	}
	seen := make(map[string]bool)
	for i, w := range s.Windows {
		k := w.Kind()
		if k.Single && seen[k.Name] {
			return fmt.Errorf("window %d: there is already a window of kind %s", i+1, k.Name)
		}
		seen[k.Name] = true
		if err := w.Check(); err != nil {
			return fmt.Errorf("window %d: %w", i+1, err)
		}
	}
	return nil
}

// atMost returns an error if there are more than some.
func atMost(most, n int, what string) error {
	if n > most {
		return fmt.Errorf("%d %s: at most %d are possible", n, what, most)
	}
	return nil
}

// checkLists checks the sizes of all that is about samples and
// metrics. The expressions are parsed when they are computed:
// what they may name depends on the recording.
func (s *State) checkLists() error {
	if len(s.Lists) > maxLists || len(s.Summary.Lanes) > maxLists {
		return fmt.Errorf("%d sample lists and %d lanes: at most %d of each are possible",
			len(s.Lists), len(s.Summary.Lanes), maxLists)
	}
	exprs := append([]string{s.Samples, s.Calls}, s.Summary.Lanes...)
	for _, l := range s.Lists {
		exprs = append(exprs, l.Expr)
	}
	return checkExprs(exprs)
}

func checkExprs(exprs []string) error {
	for _, e := range exprs {
		if len(e) > maxExpr {
			return fmt.Errorf("an expression of %d bytes: at most %d are possible", len(e), maxExpr)
		}
	}
	return nil
}
