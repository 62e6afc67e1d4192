package views

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// The typed time of a path's end does not depend on the end's
// own name, if the path contains the typed time.
func TestTypedTimeOf(t *testing.T) {
	for path, want := range map[string]string{
		"* main.f :MONITOR":                         ":MONITOR",
		"* :PRIO :runtime":                          ":PRIO",
		"* :PRIO :stopped-world":                    ":PRIO",
		"* :PRIO go:main.f":                         ":PRIO",
		"* :LOAD :idle-processor":                   ":LOAD",
		"* :no-CPU":                                 ":LOAD",
		"* :MONITOR :unknown-holder":                ":MONITOR",
		"* :MONITOR go:main.f :cut":                 ":MONITOR",
		"* :MONITOR go:main.f main.g :MONITOR :cut": ":MONITOR",
		"* :MONITOR go:main.f :deadlock":            ":MONITOR",
		"* :MONITOR go:main.f :RUN":                 ":RUN",
		"* :MONITOR go:main.f main.g :chan-receive": ":WAIT",
		"* :WAIT :unknown":                          ":WAIT",
		"* :WAIT :runtime":                          ":WAIT", // a reason of this name in the recording
		"* :WAIT label:a=b":                         ":WAIT", // a candidate of Candidates
		"* :runtime":                                ":PRIO",
		"* :cut":                                    ":MONITOR",
		"* lock go:main.f :deadlock":                ":MONITOR", // as in Holders
		"* :select":                                 ":WAIT",
		"* :MONITOR go:main.f":                      "",
		"* :MONITOR label:a=b":                      "",
		"* :MONITOR go:main.f main.g":               "",
		"* main.f":                                  "",
		"go:main.f":                                 "",
		"*":                                         "",
		"":                                          "",
	} {
		got := ""
		if typed, ok := TypedTimeOf(strings.Fields(path)); ok {
			got = typed.String()
		}
		if got != want {
			t.Errorf("%q is in %q, want %q", path, got, want)
		}
	}
}

// Every frame below a typed time is found by its name. All names
// differ, and so do all letters.
func TestTypedTimesAreDistinct(t *testing.T) {
	seen := make(map[string]bool)
	once := func(name string) {
		if seen[name] {
			t.Errorf("%s is used twice", name)
		}
		seen[name] = true
	}
	for typed := range NumTypedTimes {
		once(typed.Letter())
		once(typed.String())
		if got, ok := ParseTypedTime(typed.String()); got != typed || !ok {
			t.Errorf("%v is read as %v, %v", typed, got, ok)
		}
		if typed.String() != ":"+typed.Name() || !strings.HasPrefix(typed.Name(), typed.Short()) || len(typed.Short()) > 4 {
			t.Errorf("%v is called %s, in short %s", typed, typed.Name(), typed.Short())
		}
	}
	for n, c := range children {
		once(c.name)
		if calltree.KindOf(c.name) != calltree.Typed {
			t.Errorf("%s is no frame of typed time", c.name)
		}
		if got, ok := child(n).inPlaceOfClass().asChild(); got != child(n) || !ok {
			t.Errorf("%s comes back as %d, %v", c.name, got, ok)
		}
	}
	if _, ok := classID(0).asChild(); ok {
		t.Error("a class is a child")
	}
	if _, ok := noClass.asChild(); ok {
		t.Error("no class is a child")
	}
}
