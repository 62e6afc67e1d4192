package live

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/sampledata"
)

// A When says when something happens that is worth keeping: a
// predicate of package metrics holds, perhaps for some time. In
// addition to the monitors it may have calls(FUNCTION), which is
// compared with a time.
type When struct {
	text  string
	expr  string // calls(F) is the monitor of that name, and times are nanoseconds
	held  time.Duration
	calls []string // functions
}

func (w *When) String() string { return w.text }

// Calls returns the functions whose calls the predicate is about.
func (w *When) Calls() []string { return w.calls }

// callsMonitor returns the name of the monitor with the longest
// call of a function.
func callsMonitor(function string) string { return "calls(" + function + ")" }

// ParseWhen reads a predicate, such as "goroutines.blocked > 100
// for 2s" or "calls(main.handle) > 500ms".
func ParseWhen(text string) (*When, error) {
	w := &When{text: strings.TrimSpace(text)}
	rest := w.text
	if at := strings.LastIndex(rest, " for "); at > 0 {
		var err error
		long := strings.TrimSpace(rest[at+len(" for "):])
		if w.held, err = time.ParseDuration(long); err != nil || w.held <= 0 {
			return nil, fmt.Errorf("%q: want a time after 'for', such as 2s", long)
		}
		rest = strings.TrimSpace(rest[:at])
	}
	if rest == "" {
		return nil, fmt.Errorf("it is empty: want a predicate such as 'goroutines.blocked > 100'")
	}
	for {
		at := strings.Index(rest, "calls(")
		if at < 0 {
			w.expr += rest
			return w, nil
		}
		w.expr += rest[:at]
		var err error
		if rest, err = w.parseCalls(rest[at:]); err != nil {
			return nil, err
		}
	}
}

// parseCalls reads "calls(F) > 500ms" at the beginning of a
// text, and returns what is behind it.
func (w *When) parseCalls(text string) (rest string, err error) {
	const open = len("calls(")
	depth, end := 1, open
	for ; end < len(text) && depth > 0; end++ {
		switch text[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	function := strings.TrimSpace(text[open:max(open, end-1)])
	if depth > 0 || function == "" {
		return "", fmt.Errorf("%q: want calls(FUNCTION), such as calls(main.handle)", text)
	}
	rest = strings.TrimLeft(text[end:], " ")
	bound := strings.TrimLeft(rest, "<>=")
	operator := rest[:len(rest)-len(bound)]
	bound = strings.TrimLeft(bound, " ")
	word := bound[:len(bound)-len(strings.TrimLeftFunc(bound, func(r rune) bool {
		return r == '.' || r == 'µ' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}))]
	limit, err := time.ParseDuration(word)
	if err != nil || operator != ">" && operator != ">=" {
		return "", fmt.Errorf("%q: compare the calls with a time, such as calls(%s) > 500ms", text,
			function)
	}
	if !slices.Contains(w.calls, function) {
		w.calls = append(w.calls, function)
	}
	w.expr += callsMonitor(function) + " " + operator + " " + strconv.FormatInt(int64(limit), 10)
	return bound[len(word):], nil
}

// settled is how long a recording grows before a mistake in a
// predicate counts: what it names may be defined late, such as
// the numbers of an endpoint.
const settled = 3 * time.Second

// quiet is how long a predicate must not hold before it counts anew.
const quiet = time.Second

// A vigil follows a predicate from sample to sample.
type vigil struct {
	*When
	options metrics.Options
	most    time.Duration // it is over after that, even if the predicate holds on
	seen    int           // samples

	began    time.Duration // the first sample at all
	since    time.Duration // of the time in which it holds; -1 if it does not
	last     time.Duration // the last sample in which it held
	due      bool          // it held for long enough
	over     bool          // that was reported
	longest  []float64     // by function, since then: the longest call
	longests []metrics.Column
}

func newVigil(w *When, o metrics.Options, most time.Duration) *vigil {
	return &vigil{When: w, options: o, most: most, since: -1, began: -1,
		longest: make([]float64, len(w.calls))}
}

// follow reads the samples that are new. It returns a reason to
// keep them, or "". The error says why the predicate can't be
// computed.
func (v *vigil) follow(pieces []sampledata.Piece) (reason string, err error) {
	for _, p := range pieces {
		n := p.Samples.Len()
		if v.began < 0 {
			v.began = p.Samples.Time(0)
		}
		holds, err := v.compute(p.Recording)
		if err != nil {
			if p.Samples.Time(n-1)-v.began < settled {
				return "", nil
			}
			return "", err
		}
		for i := max(0, v.seen-p.First); i < n; i++ {
			if now := v.step(p.Samples.Time(i), holds[i], i); now != "" {
				reason = now
			}
		}
		v.seen = p.First + n
	}
	return reason, nil
}

// compute returns the predicate in all samples of a recording.
func (v *vigil) compute(r *sampledata.Recording) (metrics.Column, error) {
	t := metrics.New(r, v.options)
	v.longests = v.longests[:0]
	for _, f := range v.calls {
		m, err := t.Metric(callsMonitor(f))
		if err != nil {
			return nil, err
		}
		v.longests = append(v.longests, m.Column)
	}
	m, err := t.Metric(v.expr)
	if err != nil {
		return nil, err
	}
	if !m.Truth {
		return nil, fmt.Errorf("%q is not true or false: compare it, such as with > 0", v.text)
	}
	return m.Column, nil
}

// step takes one sample. If the predicate is not defined there,
// nothing changes.
func (v *vigil) step(at time.Duration, holds float64, sample int) (reason string) {
	switch {
	case holds == 1:
		if v.since < 0 {
			v.since = at
		}
		v.last = at
		for i, c := range v.longests {
			if x := c[sample]; !math.IsNaN(x) {
				v.longest[i] = max(v.longest[i], x)
			}
		}
		v.due = v.due || at-v.since >= v.held
		if v.due && !v.over && at-v.since >= v.most {
			v.over = true
			return v.reason(", and goes on")
		}
	case holds == 0:
		switch {
		case v.due && !v.over:
			v.over = true
			return v.reason("")
		case !v.due:
			v.since = -1
			clear(v.longest)
		case at-v.last >= quiet:
			v.since, v.due, v.over = -1, false, false
			clear(v.longest)
		}
	}
	return ""
}

// pending returns the reason to keep what a recording ends with, or "".
func (v *vigil) pending() string {
	if !v.due || v.over {
		return ""
	}
	return v.reason("")
}

// reason says what has happened.
func (v *vigil) reason(more string) string {
	if len(v.calls) == 1 && strings.HasPrefix(v.text, "calls(") &&
		!strings.ContainsAny(v.expr, "&|") {
		long := time.Duration(v.longest[0]).Round(time.Millisecond)
		if more != "" {
			return fmt.Sprintf("%s has taken %v so far", v.calls[0], long)
		}
		return fmt.Sprintf("%s took %v", v.calls[0], long)
	}
	predicate := v.text
	if v.held > 0 {
		predicate = strings.TrimSpace(v.text[:strings.LastIndex(v.text, " for ")])
	}
	if held := (v.last - v.since).Round(10 * time.Millisecond); held > 0 {
		return fmt.Sprintf("%s held for %v%s", predicate, held, more)
	}
	return predicate + " held"
}
