package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// What a file may hold. A person comes nowhere near.
const (
	maxFile    = 4 << 20 // bytes
	maxWindows = 100
	maxSteps   = 10_000 // of all windows
	maxAspects = 1_000
	maxLabels  = 1_000 // of a window
	maxPath    = 4096  // bytes
)

const formatVersion = 1

// Path is where the session of a recording is kept: in its folder, or, where the recording is a single file, next to it.
func Path(recording string) string {
	if info, err := os.Stat(recording); err == nil && !info.IsDir() {
		return recording + "." + sampledata.SessionFile
	}
	return filepath.Join(recording, sampledata.SessionFile)
}

// Load reads the session of a recording. Where there is none the error is fs.ErrNotExist, wrapped.
func Load(recording string) (*State, error) {
	path := Path(recording)
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading session: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("reading session %s: %w", path, err)
	}
	return s, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Save keeps the session of a recording in place of an earlier one. Readers see the old file or the new one.
func (s *State) Save(recording string) error {
	if err := s.save(Path(recording)); err != nil {
		return fmt.Errorf("saving session: %w", err)
	}
	return nil
}

func (s *State) save(path string) error {
	data, err := s.Marshal()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+sampledata.SessionFile+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// fileJSON is the file. Exact numbers are strings such as "5/2", times are in nanoseconds.
type fileJSON struct {
	Version    int           `json:"version"`
	Accounting string        `json:"accounting"`
	By         string        `json:"by"`
	ClassBy    string        `json:"class_by"`
	NoInlines  bool          `json:"no_inlines,omitempty"`
	From       time.Duration `json:"from,omitempty"`
	To         time.Duration `json:"to,omitempty"`
	Aspects    []aspectJSON  `json:"aspects,omitempty"`
	Windows    []windowJSON  `json:"windows"`
	Active     int           `json:"active"` // 1 + an index of windows, 0 for the Summary window
}

type aspectJSON struct {
	Name     string   `json:"name"`
	Patterns []string `json:"patterns"`
}

type windowJSON struct {
	Locks     bool          `json:"locks,omitempty"`
	Class     string        `json:"class,omitempty"` // none: the Server View
	Against   string        `json:"against,omitempty"`
	Steps     []refine.Step `json:"steps,omitempty"`
	MinHits   string        `json:"min_hits,omitempty"`
	MinCost   string        `json:"min_cost,omitempty"`
	Collapsed []string      `json:"collapsed,omitempty"`
	Selected  string        `json:"selected,omitempty"`
	Labels    []string      `json:"labels,omitempty"` // paths
}

// Marshal gives the state as a file holds it: JSON that Parse reads. A state that Parse would refuse is an error.
func (s *State) Marshal() ([]byte, error) {
	o := s.Options
	f := fileJSON{
		Version: formatVersion, Accounting: o.Accounting.String(), By: o.Granularity.String(), ClassBy: o.Classes.String(),
		NoInlines: o.NoInlines, From: o.Span.From, To: o.Span.To, Windows: []windowJSON{}, Active: s.Active,
	}
	for _, a := range s.Aspects {
		j := aspectJSON{Name: a.Name(), Patterns: []string{}}
		for _, p := range a.Patterns() {
			j.Patterns = append(j.Patterns, p.String())
		}
		f.Aspects = append(f.Aspects, j)
	}
	for _, w := range s.Windows {
		j := windowJSON{
			Locks: w.Locks, Class: w.Class, Against: w.Against, Steps: w.Steps, MinHits: exact(w.Threshold.Hits), MinCost: exact(w.Threshold.Cost),
			Collapsed: w.Collapsed, Selected: w.Selected,
		}
		for _, p := range w.Labels {
			j.Labels = append(j.Labels, p.String())
		}
		f.Windows = append(f.Windows, j)
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	_, err = Parse(data)
	return data, err
}

// Parse reads what Marshal gives, and takes nothing for granted.
func Parse(data []byte) (*State, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.Version != formatVersion {
		return nil, fmt.Errorf("format version %d, where this cpprof reads %d: use the version that wrote it, or do without (--fresh)",
			version.Version, formatVersion)
	}
	var f fileJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	return f.state()
}

// state is what the file says, checked.
func (f *fileJSON) state() (*State, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	s := &State{Options: o, Active: f.Active}
	if len(f.Aspects) > maxAspects {
		return nil, fmt.Errorf("%d aspects: at most %d are possible", len(f.Aspects), maxAspects)
	}
	for _, j := range f.Aspects {
		a, err := aspects.New(j.Name, j.Patterns...)
		if err != nil {
			return nil, fmt.Errorf("aspect %q: %w", j.Name, err)
		}
		s.Aspects = append(s.Aspects, a)
	}
	if len(f.Windows) > maxWindows {
		return nil, fmt.Errorf("%d windows: at most %d are possible", len(f.Windows), maxWindows)
	}
	if f.Active < 0 || f.Active > len(f.Windows) {
		return nil, fmt.Errorf("window %d is active, of %d", f.Active, len(f.Windows))
	}
	var steps int
	for i := range f.Windows {
		w, err := f.Windows[i].window()
		if err != nil {
			return nil, fmt.Errorf("window %d: %w", i+1, err)
		}
		if w.Locks && slices.ContainsFunc(s.Windows, func(o Window) bool { return o.Locks }) {
			return nil, fmt.Errorf("window %d: there is one of the locks already", i+1)
		}
		if steps += len(w.Steps); steps > maxSteps {
			return nil, fmt.Errorf("there are more than %d steps", maxSteps)
		}
		s.Windows = append(s.Windows, w)
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
	if f.From < 0 || f.To < 0 || f.To > 0 && f.To <= f.From {
		return o, fmt.Errorf("the span from %v to %v: want offsets from the start, the first before the second", f.From, f.To)
	}
	o.Span = views.Span{From: f.From, To: f.To}
	o.NoInlines = f.NoInlines
	return o, nil
}

func (j *windowJSON) window() (w Window, err error) {
	w = Window{Locks: j.Locks, Class: j.Class, Against: j.Against, Steps: j.Steps, Collapsed: j.Collapsed, Selected: j.Selected}
	if len(j.Against) > maxPath || strings.ContainsRune(j.Against, 0) {
		return w, fmt.Errorf("against: %.120q is no path", j.Against)
	}
	if w.Threshold.Hits, err = parseExact(j.MinHits); err != nil {
		return w, fmt.Errorf("min_hits: %w", err)
	}
	if w.Threshold.Cost, err = parseExact(j.MinCost); err != nil {
		return w, fmt.Errorf("min_cost: %w", err)
	}
	for i, step := range j.Steps {
		if err := checkStep(step); err != nil {
			return w, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	for _, key := range append([]string{j.Selected}, j.Collapsed...) {
		if key == "" {
			continue
		}
		if _, err := callpath.Parse(key); err != nil {
			return w, err
		}
	}
	if len(j.Labels) > maxLabels {
		return w, fmt.Errorf("%d labels: at most %d are possible", len(j.Labels), maxLabels)
	}
	for _, label := range j.Labels {
		p, err := callpath.Parse(label)
		if err != nil {
			return w, fmt.Errorf("label: %w", err)
		}
		w.Labels = append(w.Labels, p)
	}
	return w, nil
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

// exactNumber is a number that is cheap to read: big.Rat itself takes exponents.
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

// exact writes what parseExact reads; nil is "".
func exact(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return r.RatString()
}
