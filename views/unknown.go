package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
)

// An UnknownClassError says that the thread class of a view has
// no goroutine.
type UnknownClassError struct {
	Class   string
	Outside bool // there are goroutines, but not in the time span
	// names of existing classes that have the words of the name,
	// and of those that are similar, the closest first
	Closest []string
	Named   []string // names of existing classes that the name may stand for, see parts
}

func (e *UnknownClassError) Error() string {
	if e.Outside {
		return fmt.Sprintf("no goroutine of class %q in this time span (the whole recording has some)", e.Class)
	}
	if len(e.Named) > 1 {
		return fmt.Sprintf("%q is a part of the names of several thread classes: %s", e.Class,
			list(e.Named))
	}
	msg := fmt.Sprintf("no thread class %q in this recording", e.Class)
	if len(e.Closest) > 0 {
		msg += "; closest: " + strings.Join(e.Closest, ", ")
	}
	return msg + "; 'cpprof classes' lists all"
}

// classNames returns the names of the classes that have a
// goroutine at any time.
func classNames(r *sampledata.Recording, o Options) []string {
	c := newClasses(r, o)
	used := make(map[classID]bool)
	for _, run := range r.Runs.All() {
		used[c.of(run)] = true
	}
	var names []string
	for id, name := range c.names.All {
		if used[classID(id)] {
			names = append(names, name)
		}
	}
	return names
}

// FrameNames returns the names that a frame of any view of a
// recording may have, without functions: classes, typed times,
// what is below them, and the reasons of waits.
func FrameNames(r *sampledata.Recording, o Options) []string {
	names := classNames(r, o)
	for t := range NumTypedTimes {
		names = append(names, t.String())
	}
	for _, c := range children {
		names = append(names, c.name)
	}
	waits := maps.Clone(reasons)
	for _, run := range r.Runs.All() {
		waits[run.Reason] = OtherWait // a later runtime has others
	}
	for reason := range waits {
		names = append(names, ReasonFrame(reason))
	}
	return names
}

// unknownClassError returns the error for a class, with suggestions.
func unknownClassError(r *sampledata.Recording, o Options, class string) error {
	names := classNames(r, o)
	if slices.Contains(names, class) {
		return &UnknownClassError{Class: class, Outside: true}
	}
	closest := withWords(names, class)
	for _, name := range edit.Similar(class, names) {
		if !slices.Contains(closest, name) {
			closest = append(closest, name)
		}
	}
	return &UnknownClassError{Class: class, Closest: closest[:min(len(closest), maxNamed)],
		Named: parts(names, class)}
}

// withWords returns the names that have all words of another one
// in the same order, the shortest first. For example, "bob.run"
// may stand for "go:bob.(*terminal).run".
func withWords(names []string, of string) (all []string) {
	words := strings.FieldsFunc(of,
		func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) < 2 {
		return nil // a single word is a part of the name, see parts
	}
	for _, name := range names {
		rest, ok := name, true
		for _, w := range words {
			if _, rest, ok = strings.Cut(rest, w); !ok {
				break
			}
		}
		if ok {
			all = append(all, name)
		}
	}
	slices.SortFunc(all,
		func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return all
}

// maxNamed limits a list of names in an error.
const maxNamed = 8

func list(names []string) string { return words.List(names, maxNamed) }

// parts returns the sorted names that have a part: those that
// end with it as a whole word if there are any, otherwise those
// that contain it. For example, "worker" is at the end of
// "go:main.worker", which comes before "go:main.worker.func1".
// "conn.serve" is at the end of "go:net/http.(*conn).serve".
func parts(names []string, part string) []string {
	if part == "" {
		return nil
	}
	if !strings.ContainsAny(part, "()") {
		if found := partsOf(names, part, withoutReceivers.Replace); len(found) > 0 {
			return found
		}
	}
	return partsOf(names, part, strings.Clone)
}

// withoutReceivers removes what Go writes around the type of a method.
var withoutReceivers = strings.NewReplacer("(*", "", ").", ".")

// partsOf is parts for names that are changed before they are compared.
func partsOf(names []string, part string, change func(string) string) []string {
	var ending, containing []string
	for _, name := range names {
		changed := change(name)
		at := strings.LastIndex(changed, part)
		if at < 0 {
			continue
		}
		containing = append(containing, name)
		if at > 0 && at+len(part) == len(changed) && strings.IndexByte(":./", changed[at-1]) >= 0 {
			ending = append(ending, name)
		}
	}
	if len(ending) > 0 {
		containing = ending
	}
	slices.Sort(containing)
	return containing
}
