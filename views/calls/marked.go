package calls

import (
	"strings"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// In place of a function, a name may say what else marks a piece of work.
const (
	// The key of a pprof label, such as "label:request_id": a
	// goroutine has one value of it, from the first sample to
	// the last.
	labelPrefix = "label:"
	// A thread class, such as "go:main.serveStream": a goroutine of the class,
	// from its creation to its end.
	classPrefix = "go:"
)

// IsFunction reports whether a name is of a function, which can be timed.
func IsFunction(name string) bool {
	return !strings.HasPrefix(name, labelPrefix) && !strings.HasPrefix(name, classPrefix)
}

// marked returns what shows the calls if the name is no
// function; nil if the recording has nothing of that name.
func (t *Table) marked() *shows {
	if key, ok := strings.CutPrefix(t.Function, labelPrefix); ok {
		return t.labelled(key)
	}
	if strings.HasPrefix(t.Function, classPrefix) {
		return t.classed()
	}
	return nil
}

// labelled shows who has which value of a label.
func (t *Table) labelled(key string) *shows {
	sets := t.recording.LabelSets
	values := make([]shown, len(sets)) // by label set
	var codes intern.List[string, int32]
	for i, set := range sets {
		for _, l := range set {
			if l.Key != key {
				continue
			}
			values[i] = shown{true, codes.Number(l.Value)}
		}
	}
	if len(codes.All) == 0 {
		return nil
	}
	return &shows{
		in:   func(run sampledata.Run) (shown, bool) { return values[run.Labels], true },
		mark: func(c *Call, key int32) { c.Label = codes.All[key] },
	}
}

// classed shows who is of the class.
func (t *Table) classed() *shows {
	r := t.recording
	classOf := views.ClassOf(r, views.Options{})
	found := false
	for _, run := range r.Runs.All() {
		if found = classOf(run) == t.Function; found {
			break
		}
	}
	if !found {
		return nil
	}
	return &shows{
		in: func(run sampledata.Run) (shown, bool) {
			return shown{inside: classOf(run) == t.Function}, true
		},
		mark: func(c *Call, _ int32) {
			c.Site = sampledata.Call(r.Goroutines.At(c.Goroutine).Site)
		},
	}
}

// dropInherited drops the calls of goroutines that have
// inherited a label: they had its value from their creation,
// when their creator had it. They are a part of the creator's
// call.
func (t *Table) dropInherited() {
	if !strings.HasPrefix(t.Function, labelPrefix) {
		return
	}
	r := t.recording
	first := make(map[sampledata.GoroutineID]int32) // its first sample
	for _, run := range r.Runs.All() {
		if _, seen := first[run.Goroutine]; !seen {
			first[run.Goroutine] = run.First
		}
	}
	type value struct {
		goid  int64
		label string
	}
	of := make(map[value][]Call)
	for _, c := range t.Calls {
		of[value{c.ID, c.Label}] = append(of[value{c.ID, c.Label}], c)
	}
	kept := t.Calls[:0]
	for _, c := range t.Calls {
		inherited := false
		if c.First == first[c.Goroutine] {
			parent := r.Goroutines.At(c.Goroutine).Parent
			for _, p := range of[value{parent, c.Label}] {
				inherited = inherited || p.First <= c.First && c.First <= p.Last+1
			}
		}
		if !inherited {
			kept = append(kept, c)
		}
	}
	t.Calls = kept
}
