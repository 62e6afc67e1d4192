package aspects

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestPatternMatch(t *testing.T) {
	tests := []struct {
		pattern string
		match   string // names, joined by blanks
		not     string
	}{
		{"runtime.mallocgc", "runtime.mallocgc runtime.mallocgc:1012", "runtime.mallocgcTiny xruntime.mallocgc"},
		{"net/http.*", "net/http.Get net/http.(*conn).serve", "net/http/pprof.Index vendor/net/http.Get"},
		{"net/http.(*conn).*", "net/http.(*conn).serve net/http.(*conn).serve.func1", "net/http.(*Server).Serve"},
		{"*.MarshalJSON", "main.(*T).MarshalJSON time.Time.MarshalJSON", "main.MarshalJSONs"},
		{"*", "main.main x", ""},
		{"a*b*c", "abc aXbYc abbcc", "ab acb abcX"},
		{"ab*ba", "abba abXba", "aba"},
		{"!main.*", "main.main", "other.main"}, // the pattern says what is excluded
		{"re:main\\.(Get|Set)", "main.Get main.Set main.Set:7", "main.GetX xmain.Get"},
		{"re:a|b", "a b", "ab xa bx"},
		{"re:(?i)main\\..*sort", "main.quickSort MAIN.SORT", "main.sorted"},
		{"gopkg.in/yaml.v3.*", "gopkg.in/yaml%2ev3.Marshal gopkg.in/yaml.v3.Marshal", "gopkg.in/yaml%2ev2.Marshal"},
		{"gopkg.in/yaml%2ev3.*", "gopkg.in/yaml%2ev3.Marshal gopkg.in/yaml.v3.Marshal", ""},
		{"main.work:42", "main.work:42", "main.work main.work:43"},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for _, name := range strings.Fields(tt.match) {
			if !p.Match(name) {
				t.Errorf("%s does not match %s", tt.pattern, name)
			}
		}
		for _, name := range strings.Fields(tt.not) {
			if p.Match(name) {
				t.Errorf("%s matches %s", tt.pattern, name)
			}
		}
	}
}

func TestPatternErrors(t *testing.T) {
	tests := []struct {
		pattern, msg string
		offset       int
	}{
		{"", "nothing to match", 0},
		{"!", "nothing to match", 1},
		{"re:", "nothing to match", 3},
		{"!re:", "nothing to match", 4},
		{" a", "blanks", 0},
		{"a\nb", "no function's name", 1},
		{"a\xff", "no function's name", 1},
		{"re:a(b", "missing closing", 3},
		{"re:ab)|(c", "unexpected )", 3},
		{"re:main[", "missing closing ]", 7},
		{"!re:x**", "invalid nested repetition", 5},
		{`re:a\8`, "invalid escape", 4},
		{"re:(a long word, and another){1000}", "too large", 3},
		{"re:" + strings.Repeat(`\pL`, 300), "too large", 3},
	}
	for _, tt := range tests {
		_, err := ParsePattern(tt.pattern)
		var e *PatternError
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v", tt.pattern, err)
			continue
		}
		if !strings.Contains(e.Msg, tt.msg) || e.Offset != tt.offset {
			t.Errorf("%q: %q at %d, want %q at %d", tt.pattern, e.Msg, e.Offset, tt.msg, tt.offset)
		}
	}
	if _, err := ParsePattern(strings.Repeat("x", maxPattern+1)); err == nil {
		t.Error("an endless pattern passes")
	}
}

func TestPatternErrorShowsWhere(t *testing.T) {
	_, err := ParsePattern("!re:größe[")
	want := "pattern: regular expression: missing closing ]\n    !re:größe[\n             ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// A glob matches the same names as the regular expression that
// has ".*" for "*" and quotes the rest.
func TestGlobIsRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[ab.*(]{1,12}`).Draw(t, "glob")
		name := rapid.StringMatching(`[ab.*(]{0,16}`).Draw(t, "name")
		pieces := strings.Split(glob, "*")
		for i := range pieces {
			pieces[i] = regexp.QuoteMeta(pieces[i])
		}
		want := regexp.MustCompile(`\A` + strings.Join(pieces, ".*") + `\z`).MatchString(name)
		g := parseGlob(glob)
		if got := g.matches(name); got != want {
			t.Fatalf("glob %q, name %q: got %v", glob, name, got)
		}
	})
}

// A regular expression matches the same names as without the
// search for a needle before it, but no very long ones.
func TestNeedle(t *testing.T) {
	for expr, want := range map[string]string{
		`.*\.gowrap[0-9]+`: ".gowrap", `a(bc)d`: "a", `ab|cd`: "", `(?i)ab`: "", `ab?cde*`: "cd", `\x{FFFD}+a\x{FFFD}b`: "", `abc`: "abc",
	} {
		if p, err := ParsePattern("re:" + expr); err != nil || p.needle != want {
			t.Errorf("%s: the needle is %q, want %q (%v)", expr, p.needle, want, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.StringMatching(`([ab.](\|[ab])?[*?]?){1,6}`).Draw(t, "expression")
		name := rapid.StringMatching(`[ab\xff]{0,8}`).Draw(t, "name")
		p, err := ParsePattern("re:" + expr)
		if err != nil {
			t.Skip(err)
		}
		if got, want := p.matches(name), p.re.MatchString(name); got != want {
			t.Fatalf("%s, name %q: got %v", expr, name, got)
		}
	})
	p := fixture.Must(ParsePattern("re:a+"))(t)
	if !p.Match(strings.Repeat("a", maxMatched)) || p.Match(strings.Repeat("a", maxMatched+1)) {
		t.Error("the bound on names is not kept")
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{"net/http.*", "!*.ServeHTTP", "re:a(b|c)*", "!re:\\pL{3}", "a%2eb:42", "re:(?i)x{1000}", "re:^\\bx$"} {
		f.Add(s, "net/http.(*conn).serve:42")
	}
	f.Fuzz(func(t *testing.T, s, name string) {
		p, err := ParsePattern(s)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a message")
			}
			return
		}
		if p.String() != s {
			t.Fatalf("%q prints as %q", s, p)
		}
		if p.Match(name) && !strings.HasPrefix(plain(name), p.head) {
			t.Fatalf("%q matches %q, which does not begin with %q", s, name, p.head)
		}
	})
}
