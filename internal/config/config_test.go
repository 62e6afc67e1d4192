package config

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	c, err := Parse("cpprof.yaml", []byte(`
# What this server is about.
aspects:
  queue: ["main.(*queue).*", "!main.(*queue).len"]
  "@wire":
    - re:example\.com/.*\.(Read|Write)Frame
  log: []
priorities:
  go:main.flusher: 2
  "go:*": 1
  label:route=/slow: -3
classes: label:route
threshold: 5%
`))
	fixture.Check(t, err)
	if got, want := describe(c.Aspects), "@queue main.(*queue).* !main.(*queue).len\n"+
		"@wire re:example\\.com/.*\\.(Read|Write)Frame\n@log\n"; got != want {
		t.Errorf("aspects\n%swant\n%s", got, want)
	}
	all := c.AllAspects()
	if _, ok := all.Lookup("@log"); ok {
		t.Error("an empty list doesn't remove @log")
	}
	if got := all.Names(); got[0] != "@net" || got[len(got)-1] != "@wire" {
		t.Errorf("order %v", got)
	}
	for class, want := range map[string]int32{"go:main.flusher": 2, "go:main.worker": 1, "label:route=/slow": -3} {
		if got, ok := c.Priority(class); !ok || got != want {
			t.Errorf("priority of %s: %d, %v", class, got, ok)
		}
	}
	if _, ok := c.Priority("label:route=/"); ok {
		t.Error("label:route=/ has a priority")
	}
	if c.Classes != (views.ClassBy{Label: "route"}) {
		t.Errorf("classes %v", c.Classes)
	}
	if c.Threshold.Hits != nil || c.Threshold.Cost.Cmp(big.NewRat(1, 20)) != 0 {
		t.Errorf("threshold %v", c.Threshold)
	}
}

func TestParseConfigOfNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "aspects:\npriorities:\n", "{}", "null", "---\n# x\n...\n"} {
		c, err := Parse("x", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(c.Threshold, Default().Threshold) || len(c.Aspects.All()) != 0 {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"aspect:\n  a: [b]\n", "x:1:1: unknown key \"aspect\": did you mean \"aspects\"?\n    aspect:\n    ^"},
		{"colour: red\n", "x:1:1: unknown key \"colour\": want aspects, priorities, classes, wrappers, merge, threshold, slow, accounting, inlines, metrics, lists, monitors\n    colour: red\n    ^"},
		{"slow: 200%\n", "x:1:7: slow: a share is 100% at most; want one such as 5% or 0.05\n    slow: 200%\n          ^"},
		{"threshold: 1\nthreshold: 2\n", "x:2:1: config: \"threshold\" is already in line 1\n    threshold: 2\n    ^"},
		{"[a]", "x:1:1: config: want a mapping, not a list\n    [a]\n    ^"},
		{"aspects: 3", "x:1:10: aspects: want a mapping, not a number\n    aspects: 3\n             ^"},
		{"aspects:\n  a: b*\n", "x:2:6: aspect @a: want a list of patterns, such as [\"main.(*queue).*\"], not text\n      a: b*\n         ^"},
		{"aspects:\n  a:\n", "x:2:5: aspect @a: want a list of patterns, such as [\"main.(*queue).*\"], not nothing\n      a:\n        ^"},
		{"aspects:\n  a b: [c]\n", "x:2:3: aspect \"a b\": a name has letters and digits, and within it _ - /, but not ' '\n      a b: [c]\n      ^"},
		{"aspects:\n  a: [c]\n  \"@a\": [d]\n", "x:3:3: aspect @a is already in line 2\n      \"@a\": [d]\n      ^"},
		{"aspects:\n  a: [7]\n", "x:2:7: aspect @a: want a pattern, not a number\n      a: [7]\n          ^"},
		{"aspects:\n  a: ['!b']\n", "x:2:6: aspect @a: there are only exclusions: add \"*\" for everything but what they match\n      a: ['!b']\n         ^"},
		{"aspects:\n  a:\n    - b\n    - !c\n", "x:4:7: aspect @a: want a pattern, not a tag !c (put quotes around what begins with *, & or !)\n        - !c\n          ^"},
		{"aspects:\n  a:\n    - *.c\n", "x:3:7: put quotes around what begins with *, & or !\n        - *.c\n          ^"},
		{"aspects:\n  a:\n    - *Write\n", "x:3:7: an alias *Write: put quotes around what begins with *, & or !\n        - *Write\n          ^"},
		{"aspects:\n  a: &x [b]\n  c: *x\n", "x:3:6: aspect @c: want a list of patterns, such as [\"main.(*queue).*\"], not an alias (put quotes around what begins with *, & or !)\n      c: *x\n         ^"},
		{"aspects:\n  a: [b, 're:c(d']\n", "x:2:14: pattern \"re:c(d\": regular expression: missing closing )\n      a: [b, 're:c(d']\n                 ^"},
		{"aspects:\n  a:\n    - re:c[\n", "x:3:11: pattern \"re:c[\": regular expression: missing closing ]\n        - re:c[\n              ^"},
		{"priorities:\n  main.f: 1\n", "x:2:3: class pattern \"main.f\" matches no class: their names begin with \"go:\" or \"label:\"\n      main.f: 1\n      ^"},
		{"priorities:\n  go:f: 1.5\n", "x:2:9: priority of \"go:f\": want a whole number of at most 32 bits\n      go:f: 1.5\n            ^"},
		{"priorities:\n  go:f: 4294967296\n", "x:2:9: priority of \"go:f\": want a whole number of at most 32 bits\n      go:f: 4294967296\n            ^"},
		{"priorities:\n  \"!go:f\": 1\n", "x:2:3: class pattern \"!go:f\": an exclusion is not allowed here, since the first pattern that matches counts\n      \"!go:f\": 1\n      ^"},
		{"classes: goroutine\n", "x:1:10: classes: unknown class rule \"goroutine\": want function, site, or label:KEY\n    classes: goroutine\n             ^"},
		{"classes: [site]\n", "x:1:10: classes: want function, site or label:KEY, not a list\n    classes: [site]\n             ^"},
		{"threshold: few\n", "x:1:12: threshold: \"few\": want hits (10) or a cost (0.05, 5%)\n    threshold: few\n               ^"},
		{"threshold: true\n", "x:1:12: threshold: want hits (10) or a cost (0.05, 5%), not true or false\n    threshold: true\n               ^"},
		{"threshold: 1\n---\nthreshold: 2\n", "x:2:1: a second document: a config file has one\n    ---\n    ^"},
		{"aspects:\n\tx: [y]\n", "x:2:1: found character that cannot start any token\n     x: [y]\n    ^"},
		{"a: b: c\n", "x:1:1: mapping values are not allowed in this context\n    a: b: c\n    ^"},
	}
	for _, tt := range tests {
		_, err := Parse("x", []byte(tt.text))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got\n%v\nwant\n%s", tt.text, err, tt.want)
		}
	}
}

func TestConfigReportsAllMistakes(t *testing.T) {
	_, err := Parse("x", []byte("clases: site\nthreshold: -1\naspects: {a: [re:(]}\n"))
	for _, want := range []string{"x:1:1: unknown key", "x:2:12: threshold", "x:3:18: pattern"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	_, err = Parse("x", []byte(strings.Repeat("- ", 3)+"\n"+strings.Repeat("k: v\n", 3)))
	if err == nil {
		t.Error("a list before keys passes")
	}
}

func TestConfigBounds(t *testing.T) {
	var many strings.Builder
	for i := range maxAspects + 1 {
		fmt.Fprintf(&many, "  a%d: [x]\n", i)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		before := strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",")
		bomb += string(c) + ": &" + string(c) + " [" + before + "]\n"
	}
	for name, text := range map[string]string{
		"aliases":             bomb,
		"aliases of patterns": "aspects:\n  " + strings.ReplaceAll(strings.TrimSpace(bomb), "\n", "\n  ") + "\n",
		"size":                "#" + strings.Repeat("x", maxSize),
		"number":              "aspects:\n" + many.String(),
		"depth":               strings.Repeat("[", 100_000),
		"regular expressions": "aspects:\n  a:\n" + strings.Repeat("    - re:\\pL{15}\n", 50_000),
	} {
		_, err := Parse("x", []byte(text))
		if err == nil {
			t.Errorf("%s: passes", name)
		} else if len(err.Error()) > 4000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b", "c")
	fixture.Check(t, os.MkdirAll(deep, 0o755))
	want := filepath.Join(top, "a", Name)
	fixture.Check(t, os.WriteFile(want, []byte("threshold: 3\n"), 0o644))
	// A folder of that name is not a config file.
	fixture.Check(t, os.Mkdir(filepath.Join(top, "a", "b", Name), 0o755))
	got, _, err := Find(deep)
	if err != nil || got != want {
		t.Fatalf("found %q, %v, want %q", got, err, want)
	}
	c, err := Load(got)
	if err != nil || c.Threshold.Hits.RatString() != "3" || c.File != want {
		t.Errorf("loaded %+v, %v", c, err)
	}
	if got, _, err := Find(top); err != nil || strings.HasPrefix(got, top) {
		t.Errorf("found %q, %v above", got, err)
	}
	if _, err := Load(filepath.Join(top, Name)); err == nil || !strings.Contains(err.Error(), "there is no config file ") {
		t.Errorf("loading what is not there: %v", err)
	}
}

func TestSaveAspects(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	save := func(as ...aspects.Aspect) string {
		t.Helper()
		fixture.Check(t, SaveAspects(path, as...))
		data := fixture.Must(os.ReadFile(path))(t)
		return string(data)
	}
	if got, want := save(mustNew(t, "queue", "main.(*queue).*")), "aspects:\n  queue:\n    - main.(*queue).*\n"; got != want {
		t.Errorf("a new file:\n%swant\n%s", got, want)
	}
	old := "# Ours.\nthreshold: 7 # few\naspects:\n  # The old one.\n  \"@a\": [x]\n  b: [y, z] # two\n"
	fixture.Check(t, errors.Join(os.WriteFile(path, []byte(old), 0o600), os.Chmod(path, 0o600)))
	want := "# Ours.\nthreshold: 7 # few\naspects:\n  # The old one.\n  \"@a\":\n    - '*.f'\n    - '!g'\n  b: [y, z] # two\n  c:\n    - re:h\n"
	if got := save(mustNew(t, "a", "*.f", "!g"), mustNew(t, "c", "re:h")); got != want {
		t.Errorf("a known file:\n%swant\n%s", got, want)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	for _, text := range []string{"aspects:\n", "aspects: {}\n", "# only this\n", "null\n"} {
		fixture.Check(t, os.WriteFile(path, []byte(text), 0o600))
		if got := save(mustNew(t, "a", "b")); !strings.Contains(got, "aspects:\n  a:\n    - b\n") {
			t.Errorf("%q becomes\n%s", text, got)
		}
	}
	broken := "aspects: [\n"
	fixture.Check(t, os.WriteFile(path, []byte(broken), 0o600))
	if err := SaveAspects(path, mustNew(t, "a", "b")); err == nil {
		t.Error("a broken file is written to")
	}
	if data, _ := os.ReadFile(path); string(data) != broken {
		t.Errorf("a broken file becomes %q", data)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte("aspects:\n  a: [b, \"!c\", 're:d(e)*']\npriorities: {go:f: 1}\nclasses: site\nthreshold: 0.05\n"))
	f.Add([]byte("a: &a [x]\nb: *a\n<<: *a\n"))
	f.Add([]byte("aspects:\n  a:\n    - !x y\n    - *z\n"))
	f.Add([]byte("--- !!map\n? [a]\n: |\n  b\n...\n---\n"))
	f.Add(builtinYAML[:2000])
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("x", data)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), Name)
		fixture.Check(t, os.WriteFile(path, data, 0o600))
		if err := SaveAspects(path, mustNew(t, "fuzz", "x")); err != nil {
			t.Fatalf("saving into %q: %v", data, err)
		}
		again := fixture.Must(Load(path))(t)
		none := mustNew(t, "fuzz")
		got, want := describe(again.Aspects.With(none)), describe(c.Aspects.With(none))
		if got != want {
			t.Fatalf("saving changed\n%sto\n%s", want, got)
		}
	})
}

// Aspects with any names and patterns are the same after they
// were saved into a file and read again. Merged classes are
// saved beside what the file has, and read back as they were.
func TestSaveMerges(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	merge := func(name string, patterns ...string) Merge {
		return fixture.Must(NewMerge(name, patterns...))(t)
	}
	old := "# Ours.\nmerge:\n  class:io: [\"go:a\"] # first\n  gone: [\"go:b\"]\n  late: [\"class:io\"]\n"
	fixture.Check(t, os.WriteFile(path, []byte(old), 0o600))
	if err := SaveMerges(path, []string{"gone"}, merge("db", "go:*.query", "!go:x.query"), merge("db2", "go:c"), merge("db2", "go:d")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	want := "# Ours.\nmerge:\n  class:io: [\"go:a\"] # first\n  late: [\"class:io\"]\n  db:\n    - go:*.query\n    - '!go:x.query'\n  db2:\n    - go:c\n    - go:d\n"
	if err != nil || string(data) != want {
		t.Errorf("%v: the file is\n%swant\n%s", err, data, want)
	}
	c, err := Load(path)
	if err != nil || len(c.Merges) != 4 || !c.Merges[3].Equal(merge("db2", "go:c", "go:d")) || c.Merges[3].Equal(merge("db2", "go:c")) {
		t.Errorf("%v: it is read as %v", err, c.Merges)
	}
	for _, m := range []Merge{merge("db", "go:e"), merge("io", "go:e")} { // one excludes classes, and the other one is merged further
		if err := SaveMerges(path, nil, m); err == nil || !strings.Contains(err.Error(), m.Class()+" is merged twice") {
			t.Errorf("%v: %v", m, err)
		}
	}
	if after, _ := os.ReadFile(path); string(after) != want {
		t.Errorf("after an error the file is\n%s", after)
	}
}

func TestSavedAspectsAreReadBack(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var list []aspects.Aspect
		for i := range rapid.IntRange(1, 5).Draw(t, "aspects") {
			patterns := rapid.SliceOfN(rapid.StringMatching(`!?(re:)?[ab]{0,2}[ab.*]{1,4}`), 1, 5).Draw(t, "patterns")
			if a, err := aspects.New(string(rune('a'+i)), patterns...); err == nil {
				list = append(list, a)
			}
		}
		path := filepath.Join(folder, Name)
		fixture.Check(t, os.WriteFile(path, nil, 0o600))
		fixture.Check(t, SaveAspects(path, list...))
		c := fixture.Must(Load(path))(t)
		if got, want := describe(c.Aspects), describe(aspects.NewSet(list...)); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func mustNew(t testing.TB, name string, patterns ...string) aspects.Aspect {
	t.Helper()
	return fixture.Must(aspects.New(name, patterns...))(t)
}

func describe(s *aspects.Set) string {
	var b strings.Builder
	for _, a := range s.All() {
		b.WriteString(a.Name())
		for _, p := range a.Patterns() {
			b.WriteString(" " + p.String())
		}
		b.WriteString("\n")
	}
	return b.String()
}
