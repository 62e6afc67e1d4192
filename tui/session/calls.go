package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// CallsKind is the kind of windows with the calls of a function,
// and TracksKind of those with what goroutines did over time.
var (
	CallsKind  = Kind{Name: "calls", New: func() Window { return new(Calls) }}
	TracksKind = Kind{Name: "tracks", New: func() Window { return new(Tracks) }}
)

// Calls is a window with the calls of a function.
type Calls struct {
	Function string        `json:"function"`
	From     time.Duration `json:"from,omitempty"` // the time that is shown
	To       time.Duration `json:"to,omitempty"`   // 0: to the end
}

func (*Calls) Kind() Kind { return CallsKind }

func (c *Calls) Check() error {
	if len(c.Function) > maxExpr {
		return fmt.Errorf("a function of %d bytes: at most %d are possible", len(c.Function), maxExpr)
	}
	return checkTimes(c.From, c.To)
}

func checkTimes(from, to time.Duration) error {
	if from < 0 || to != 0 && to <= from {
		return fmt.Errorf("the time from %v to %v: want a time that ends after it begins", from, to)
	}
	return nil
}

// FoundCalls are calls, and what the slow ones have more of.
type FoundCalls struct {
	Table    *calls.Table    // nil until they are found
	Slow     calls.Condition // of the slow ones
	Contrast *calls.Contrast
}

// FindCalls finds the calls of a function; of the first proposed
// one if that is "". It holds those that count against the rest:
// if all count, the slowest that are enough.
func FindCalls(r *sampledata.Recording, o views.Options, function, only string) (f FoundCalls, err error) {
	if function == "" {
		list, err := calls.Propose(r, o)
		if err != nil {
			return f, err
		}
		if len(list) == 0 {
			return f, errors.New("no function stands out in which goroutines work from one wait for work to the next: name one, such as ':calls main.handle'")
		}
		function = list[0].Function
	}
	if f.Table, err = calls.Of(r, function); err != nil {
		return f, err
	}
	conditions := []string{">= p99", ">= p90", ">= p50"}
	if of, c, err := calls.Parse(only); err == nil && of == function && c.String() != "" {
		conditions = []string{c.String()}
	}
	for _, text := range conditions {
		if f.Slow, err = calls.ParseCondition(text); err != nil {
			return f, err
		}
		if f.Contrast, err = f.Table.Contrast(f.Slow, o); err != nil {
			return f, err
		}
		if !f.Contrast.TooFew() {
			break
		}
	}
	return f, nil
}

// Report returns the report that 'cpprof calls' writes.
func (c *Calls) Report(src *Source) (report.Report, error) {
	o := src.Options
	o.Span = views.Span{}
	f, err := FindCalls(src.whole(), o, c.Function, src.Calls)
	if err != nil {
		return nil, err
	}
	return &report.Calls{Table: f.Table, Contrast: f.Contrast, Condition: f.Slow,
		Recording: src.whole(), File: src.Path, Top: longestCalls, Width: src.Width}, nil
}

const longestCalls = 5

// Tracks is a window with what goroutines did over time.
type Tracks struct {
	Class     string        `json:"class,omitempty"`     // that is open; "" for none
	Goroutine int64         `json:"goroutine,omitempty"` // that is open, with holders; 0 for none
	Selected  string        `json:"selected,omitempty"`  // a class or goroutine
	From      time.Duration `json:"from,omitempty"`      // the time that is shown
	To        time.Duration `json:"to,omitempty"`        // 0: to the end
	At        time.Duration `json:"at,omitempty"`        // the cursor
}

func (*Tracks) Kind() Kind { return TracksKind }

func (t *Tracks) Check() error {
	if n := max(len(t.Class), len(t.Selected)); n > maxExpr {
		return fmt.Errorf("a class of %d bytes: at most %d are possible", n, maxExpr)
	}
	return checkTimes(t.From, t.To)
}

// Report returns what share of the time the classes, or the
// goroutines of the one that is open, spent in which typed time.
func (t *Tracks) Report(src *Source) (report.Report, error) {
	r, o := src.whole(), src.Options
	o.Span = views.Span{}
	from, to := t.From, t.To
	to = cmp.Or(to, max(r.Begins(r.Samples.Len()), from+1))
	tracks := views.NewTracks(r, o)
	out := &trackShares{From: from, To: to}
	if t.Class == "" {
		for i := range tracks.Classes {
			c := &tracks.Classes[i]
			name := fmt.Sprintf("%s (%d)", c.Name, len(c.Goroutines))
			out.Tracks = append(out.Tracks, ShareOf(name, tracks.Shares(c, from, to, 1)[0]))
		}
		return out, nil
	}
	c := tracks.Class(t.Class)
	if c == nil {
		return nil, &views.UnknownClassError{Class: t.Class}
	}
	for _, g := range c.Goroutines {
		one := views.TrackClass{Name: c.Name, Goroutines: []sampledata.GoroutineID{g}}
		if id := r.Goroutines.At(g).ID; t.Goroutine == 0 || t.Goroutine == id {
			name := fmt.Sprintf("goroutine %d", id)
			out.Tracks = append(out.Tracks, ShareOf(name, tracks.Shares(&one, from, to, 1)[0]))
		}
	}
	return out, nil
}

// trackShares are the typed times of classes or goroutines.
type trackShares struct {
	From   time.Duration `json:"from_ns"`
	To     time.Duration `json:"to_ns"`
	Tracks []TrackShare  `json:"tracks"`
}

// A TrackShare is the typed times of a class or a goroutine.
type TrackShare struct {
	Name   string             `json:"name"`
	Shares map[string]float64 `json:"shares"` // of the time in which one is there, by typed time
	Text   string             `json:"-"`      // " RUN 20 % WAIT 80 %"; "" if none is ever there
}

// ShareOf returns typed times as shares of their sum.
func ShareOf(name string, shares [views.NumTypedTimes]float64) TrackShare {
	all, one := 0.0, TrackShare{Name: name, Shares: map[string]float64{}}
	for _, share := range shares {
		all += share
	}
	for typed, share := range shares {
		if share > 0 {
			n := views.TypedTime(typed).Name()
			one.Shares[n] = share / all
			one.Text += fmt.Sprintf(" %s %.0f %%", n, 100*share/all)
		}
	}
	return one
}

func (t *trackShares) Write(w io.Writer) {
	termtext.Fprintf(w, "Tracks from %v to %v\n", calls.Rounded(t.From), calls.Rounded(t.To))
	for _, one := range t.Tracks {
		termtext.Fprintf(w, "  %s:%s\n", one.Name, cmp.Or(one.Text, " not there"))
	}
}

func (t *trackShares) WriteJSON(w io.Writer) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err == nil {
		_, err = w.Write(append(termtext.JSON(text), '\n'))
	}
	return err
}
