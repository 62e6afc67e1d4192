package report

import (
	"cmp"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// What reports say of the recording of another tool's profile,
// which has no samples.

// quantityText returns a quantity with its unit: "alloc_space (bytes)".
func quantityText(q *sampledata.Quantity) string {
	if q.Unit == "" || q.Unit == q.Name {
		return q.Name
	}
	return q.Name + " (" + q.Unit + ")"
}

// profileInfo writes what a profile counts, and the labels that
// its stacks have.
func profileInfo(w io.Writer, path string, r *sampledata.Recording) error {
	i := profileInfoOf(r)
	var b infoText
	b.line("profile", "%s", termtext.Printable(path))
	b.line("stacks", "%d, of %s", i.Stacks, Counted(i.Functions, "function"))
	title := "counts"
	for _, q := range i.Counts {
		b.line(title, "%s %s: %s", termtext.Printable(q.Value), termtext.Printable(q.Unit), q.Total)
		title = ""
	}
	if len(i.Labels) > 0 {
		b.line("labels", "%s", termtext.Printable(strings.Join(i.Labels, ", ")))
	}
	return b.write(w, Warnings(r.Warnings))
}

// profileInfoData is what is known of a profile, as data.
type profileInfoData struct {
	Stacks    int                   `json:"stacks"`
	Functions int                   `json:"functions"`
	Counts    []profileQuantityData `json:"counts"`
	Labels    []string              `json:"labels"` // their keys
	Basis
}

type profileQuantityData struct {
	Value string `json:"value"`
	Unit  string `json:"unit"`
	Total string `json:"total"` // exact
}

func profileInfoOf(r *sampledata.Recording) profileInfoData {
	p := r.Profile
	i := profileInfoData{Stacks: len(p.Stacks), Functions: len(r.Functions), Basis: BasisOf(r),
		Labels: []string{}}
	for _, k := range p.Shown {
		q := p.Quantities[k]
		i.Counts = append(i.Counts, profileQuantityData{q.Name, q.Unit, p.Total(k).RatString()})
	}
	known := map[string]bool{}
	for _, set := range r.LabelSets {
		for _, l := range set {
			if !known[l.Key] {
				known[l.Key] = true
				i.Labels = append(i.Labels, l.Key)
			}
		}
	}
	return i
}

// ProfileNumbers returns the columns of a class of a profile:
// the share of all, the weight, and the number of stacks.
func ProfileNumbers(r *sampledata.Recording) []ClassColumn {
	q, all := r.Profile.Main(), r.Profile.Total(r.Profile.Shown[0])
	return []ClassColumn{
		{
			Name: "share", Short: "share", Text: percent, Brief: percent,
			Value: ofClass(func(c *views.ClassSummary) *big.Rat { return exact.Quo(c.Time, all) }),
		},
		{
			Name: quantityText(q), Short: termtext.Printable(cmp.Or(q.Unit, q.Name)), Text: Hits,
			Brief: Hits, Leave: 1,
			Value: ofClass(func(c *views.ClassSummary) *big.Rat { return c.Time }),
		},
		{
			Name: "stacks", Short: "stacks", Text: Hits, Brief: Hits, Leave: 2,
			Value: ofClass(func(c *views.ClassSummary) *big.Rat { return big.NewRat(c.Hits, 1) }),
		},
	}
}

// profileClassData is a class of a profile, as data.
type profileClassData struct {
	Class  string   `json:"class"`
	Weight *big.Rat `json:"weight"` // exact
	Share  float64  `json:"share"`
	Stacks int64    `json:"stacks"`
}

// profileClassesJSON writes the classes of a profile as JSON.
func profileClassesJSON(w io.Writer, r *sampledata.Recording, classes []views.ClassSummary) error {
	all := r.Profile.Total(r.Profile.Shown[0])
	list := lists.Each(classes, func(c views.ClassSummary) profileClassData {
		return profileClassData{c.Class, c.Time, float(exact.Quo(c.Time, all)), c.Hits}
	})
	return writeJSON(w, struct {
		Value   string             `json:"value"`
		Unit    string             `json:"unit"`
		Classes []profileClassData `json:"classes"`
		Basis
	}{r.Profile.Main().Name, r.Profile.Main().Unit, list, BasisOf(r)})
}

// What reports say of recordings of execution traces and
// goroutine dumps, for which nothing was halted.

// traced writes what was traced.
func (b *infoText) traced(path string, r *sampledata.Recording) {
	s := r.Stats()
	from := ""
	if !r.Header.Start.IsZero() {
		from = " from " + r.Header.Start.Format(time.DateTime)
	}
	b.line("trace", "%s", path)
	b.line("", "GOMAXPROCS %d", r.Header.GOMAXPROCS)
	b.line("traced", "%s", span(s.Duration)+from)
	b.line("moments", "%d at which something changed; %s of goroutines", s.Samples,
		Counted(r.Runs.Len(), "state"))
	b.line("goroutines", "%d, %.1f on average, at most %d", r.Goroutines.Len(),
		s.Goroutines.Mean, s.Goroutines.Max)
}

// dumped writes what goroutine dumps have.
func (b *infoText) dumped(path string, r *sampledata.Recording) {
	s := r.Stats()
	b.line("dumps", "%s: %d", path, s.Samples)
	b.line("goroutines", "%d, at most %d in a dump", r.Goroutines.Len(), s.Goroutines.Max)
}

// seenJSON is what InfoJSON writes of traces and dumps, for
// which nothing was halted.
type seenJSON struct {
	Backend    string        `json:"backend"`
	GOMAXPROCS int32         `json:"gomaxprocs,omitempty"`
	Start      *time.Time    `json:"start,omitempty"`
	Duration   time.Duration `json:"duration_ns"`
	// moments at which something changed, or dumps
	Samples    int                       `json:"samples"`
	States     int                       `json:"states"` // of goroutines
	Instances  int                       `json:"instances"`
	Goroutines sampledata.GoroutineStats `json:"goroutines"`
	Locks      locksInfo                 `json:"locks"`
	Basis
}

func seenInfoJSON(w io.Writer, r *sampledata.Recording, waits locksInfo) error {
	s := r.Stats()
	seen := seenJSON{
		Backend: r.Header.Sampler.Backend, GOMAXPROCS: r.Header.GOMAXPROCS, Duration: s.Duration,
		Samples: s.Samples, States: r.Runs.Len(),
		Instances: r.Goroutines.Len(), Goroutines: s.Goroutines, Locks: waits, Basis: BasisOf(r),
	}
	if !r.Header.Start.IsZero() {
		seen.Start = &r.Header.Start
	}
	return writeJSON(w, seen)
}
