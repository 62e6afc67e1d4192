package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Options say which part of a recording a view shows, and how
// time is accounted.
type Options struct {
	Accounting  Accounting
	Granularity Granularity
	Classes     ClassBy
	Span        Span

	// MaxMemory limits the memory of a view, in bytes; 0 stands
	// for a quarter of the machine's.
	MaxMemory int64

	// NoInlines merges inlined calls into their callers, so that frames are
	// the functions of the compiled program. Otherwise inlined calls are
	// frames like others. AlsoInlined are calls to merge wherever they occur;
	// see Compare.
	NoInlines   bool
	AlsoInlined map[Call]bool

	// Places tells apart frames of one function that are at
	// different lines or inlined or not, and waits for different
	// locks: the names of frames then have their places, see
	// SplitPlace. It applies if the granularity is ByFunction.
	Places bool

	// Lock returns the name of the lock for a run that waits for
	// it, for Places. Nil: waits for locks are not told apart.
	Lock func(sampledata.Run) string

	// Priority returns the configured priority of a thread
	// class, before classes are merged. If it is nil or returns
	// false, the recorded priority is used.
	Priority func(class string) (int32, bool)

	// Wrapper reports whether a function does nothing but call a
	// function that it was given, such as an errgroup's. A
	// goroutine that began with a wrapper is of the class of the
	// first other function below. WithWrappers finds more of
	// them. Nil: there are no wrappers.
	Wrapper func(function string) bool

	// Role says in which functions goroutines wait for work. Nil: no
	// goroutine waits for work.
	Role func(function string) Role

	// idle is what is known of Role in a recording, see Sharing.
	idle *idleness

	// Request reports whether calls of a function are pieces of
	// work that the configuration names. Nil: it names none.
	Request func(function string) bool

	// LeaveOutIdle leaves the time out of Thread Views and of
	// the sums of classes in which goroutines wait for work.
	LeaveOutIdle bool

	// CreatedBy charges goroutines to those who started them, as
	// far up as is known. In trees, a goroutine's stack hangs
	// below "+" and its class, and these below the stack of its
	// creator, down to the go statement. A class has the time of
	// its goroutines, and of those that they started.
	CreatedBy bool

	// Slices lets the trees of views say when their stacks got
	// their hits, see calltree.Metric.Slices. A profile's can't.
	Slices bool

	// Merged returns the class that the goroutines of a class
	// are counted in, which may be the class itself. Nil: no
	// classes are merged.
	Merged func(class string) string
}

// An Accounting is a rule that divides a runnable goroutine's
// time (design "Typed time").
type Accounting uint8

const (
	Observed   Accounting = iota // by the goroutines that were seen on the processors
	Single                       // Table 1 of CPPROFJ: one processor, shared equally
	Processors                   // the same for GOMAXPROCS processors
)

var accountingNames = []string{"observed", "single", "processors"}

func (a Accounting) String() string { return accountingNames[a] }

// ParseAccounting reads what String writes.
func ParseAccounting(s string) (Accounting, error) {
	i, err := oneOf("accounting", s, accountingNames)
	return Accounting(i), err
}

// A Granularity says what one frame of a view is.
type Granularity uint8

const (
	ByFunction Granularity = iota
	ByLine                 // function and line: "main.work:42"
	ByFile                 // file; calls within a file are one frame
	ByPackage              // package; calls within a package are one frame
)

var granularityNames = []string{"function", "line", "file", "package"}

func (g Granularity) String() string { return granularityNames[g] }

// ParseGranularity reads what String writes.
func ParseGranularity(s string) (Granularity, error) {
	i, err := oneOf("granularity", s, granularityNames)
	return Granularity(i), err
}

// ClassBy is the rule for the thread classes of goroutines. The
// zero ClassBy is by function.
type ClassBy struct {
	Site bool // the place of the go statement: "go:main.main.func1@main.go:59"
	// a pprof label's key: "label:route=/api"; goroutines without it are
	// classed by function
	Label string
}

func (c ClassBy) String() string {
	switch {
	case c.Label != "":
		return "label:" + c.Label
	case c.Site:
		return "site"
	}
	return "function"
}

// ParseClassBy reads what String writes.
func ParseClassBy(s string) (ClassBy, error) {
	if key, ok := strings.CutPrefix(s, "label:"); ok && key != "" {
		return ClassBy{Label: key}, nil
	}
	switch s {
	case "function":
		return ClassBy{}, nil
	case "site":
		return ClassBy{Site: true}, nil
	}
	return ClassBy{}, fmt.Errorf("unknown class rule %q: want function, site, or label:KEY", s)
}

// Applies reports whether a goroutine of the recording has the
// label of the rule. If none has it, classes are by function.
func (b ClassBy) Applies(r *sampledata.Recording) bool {
	return b.Label == "" || slices.ContainsFunc(r.LabelSets, func(set []sampledata.Label) bool {
		return slices.ContainsFunc(set, func(l sampledata.Label) bool { return l.Key == b.Label })
	})
}

// A Span is a part of a recording, by offsets from its start: it
// includes From, but not To. A zero To is the end.
type Span struct {
	From, To time.Duration
}

// ParseSpan reads offsets from the start, such as "2s,5s". One
// of them may be left out.
func ParseSpan(text string) (s Span, err error) {
	from, to, ok := strings.Cut(text, ",")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if !ok || from+to == "" {
		return s, errors.New("want two offsets from the start, such as 2s,5s")
	}
	for i, end := range []*time.Duration{&s.From, &s.To} {
		offset := []string{from, to}[i]
		if offset == "" {
			continue
		}
		if *end, err = time.ParseDuration(offset); err != nil {
			return Span{}, fmt.Errorf("%q is no time such as 10s or 1m30s", offset)
		}
	}
	if s.From < 0 || s.To < 0 || s.To <= s.From && to != "" {
		return Span{}, errors.New("want offsets from the start, the first before the second")
	}
	return s, nil
}

// String returns the span in words: "from 2s to 3.5s", "from 2s".
func (s Span) String() string {
	text := "from " + s.From.String()
	if s.To != 0 {
		text += " to " + s.To.String()
	}
	return text
}

// Has reports whether a recording has samples in the span.
func (s Span) Has(r *sampledata.Recording) bool {
	from, to, err := s.Samples(r)
	return err == nil && from < to
}

// Check returns an error if a recording has no samples in the
// span, because an empty view would look like a result. The zero
// Span, which is the whole recording, is never an error.
func (s Span) Check(of Named) error {
	if s == (Span{}) || s.Has(of.Recording) {
		return nil
	}
	return fmt.Errorf("%s has no samples %v: it lasts %v", of.Name, s,
		of.Recording.Stats().Duration)
}

func oneOf(what, s string, names []string) (int, error) {
	if i := slices.Index(names, s); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("unknown %s %q: want one of %s", what, s, strings.Join(names, ", "))
}
