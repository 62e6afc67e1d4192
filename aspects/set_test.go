package aspects

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

func mustNew(t testing.TB, name string, patterns ...string) Aspect {
	t.Helper()
	return fixture.Must(New(name, patterns...))(t)
}

func TestAspectHas(t *testing.T) {
	a := mustNew(t, "queue", "!*.len", "main.(*queue).*", "main.drain", "!re:main\\.\\(\\*queue\\)\\.debug.*")
	for name, want := range map[string]bool{
		"main.(*queue).push":    true,
		"main.(*queue).push:12": true,
		"main.drain":            true,
		"main.(*queue).len":     false, // whichever of the patterns comes first
		"main.(*queue).debugIt": false,
		"main.main":             false,
	} {
		if a.Has(name) != want {
			t.Errorf("Has(%s) = %v", name, !want)
		}
	}
}

func TestNewErrors(t *testing.T) {
	for name, patterns := range map[string][]string{
		"":                              {"x"},
		"@":                             {"x"},
		"@a b":                          {"x"},
		"@-a":                           {"x"},
		"@a..b":                         {"x"},
		"a\"":                           {"x"},
		"a\xff":                         {"x"},
		strings.Repeat("x", maxName+1):  {"x"},
		"only-exclusions":               {"!x"},
		"bad/pattern":                   {"re:("},
		"name/with-all_it/May/haveäöü1": nil,
	} {
		if _, err := New(name, patterns...); (err != nil) != (patterns != nil) {
			t.Errorf("New(%q, %q): error %v", name, patterns, err)
		}
	}
}

func TestSetOrder(t *testing.T) {
	s := new(Set).With(mustNew(t, "net", "net.*"), mustNew(t, "@log", "log.*"), mustNew(t, "sql", "sql.*"))
	u := s.With(mustNew(t, "own", "main.*"), mustNew(t, "net", "mynet.*"), mustNew(t, "log"), mustNew(t, "nothing"))
	if got := strings.Join(u.Names(), " "); got != "@net @sql @own" {
		t.Errorf("names %s", got)
	}
	if a, ok := u.Lookup("net"); !ok || a.Patterns()[0].String() != "mynet.*" {
		t.Errorf("@net is %v, %v", a, ok)
	}
	if got := strings.Join(s.Names(), " "); got != "@net @log @sql" {
		t.Errorf("With changed its set: %s", got)
	}
	if got := strings.Join(u.With(mustNew(t, "@sql")).Names(), " "); got != "@net @own" {
		t.Errorf("without @sql: %s", got)
	}
	if _, ok := u.Lookup("@log"); ok {
		t.Error("@log is there")
	}
}

func TestMembershipKinds(t *testing.T) {
	var syms calltree.Symbols
	for _, n := range []string{"*", ":RUN", "go:main.worker", "label:a=b", "main.f", "main.f:3"} {
		syms.Intern(n)
	}
	m := new(Set).With(mustNew(t, "all", "*"), mustNew(t, "f", "main.f")).Membership(&syms)
	for f := range calltree.Func(syms.Len()) {
		want := 0
		if strings.HasPrefix(syms.Name(f), "main.f") {
			want = 2
		}
		if got := m.Of(f); len(got) != want {
			t.Errorf("%s is in %v", syms.Name(f), got)
		}
	}
}

var (
	genName    = rapid.StringMatching(`(a|b|ab)(\.|/|%2e)?[ab]{0,4}(:[0-9])?`)
	genPattern = rapid.StringMatching(`!?(re:)?[ab]{0,2}[ab.*]{1,4}`)
)

// genSet draws sets whose patterns begin alike.
func genSet(t *rapid.T) *Set {
	s := new(Set)
	for i := range rapid.IntRange(0, 5).Draw(t, "aspects") {
		patterns := rapid.SliceOfN(genPattern, 1, 5).Draw(t, "patterns")
		if a, err := New(string(rune('a'+i)), patterns...); err == nil {
			s = s.With(a)
		}
	}
	return s
}

// Membership, which uses an index, agrees with Has, which tries all patterns.
func TestMembershipIsHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSet(t)
		var syms calltree.Symbols
		for _, n := range rapid.SliceOf(genName).Draw(t, "names") {
			syms.Intern(n)
		}
		m := s.Membership(&syms)
		for f := range calltree.Func(syms.Len()) {
			for i, a := range s.All() {
				got := slices.Contains(m.Of(f), int32(i))
				if want := a.Has(syms.Name(f)); got != want {
					t.Fatalf("%s in %s %v: %v, want %v", syms.Name(f), a.Name(), a.Patterns(), got, want)
				}
			}
		}
	})
}
