package session

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"pgregory.net/rapid"
)

// kinds are the kinds of windows of this package.
var kinds = []Kind{ProfileKind, ComparisonKind, LocksKind}

// Any state that a person can produce is the same after it was
// written and read.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := states().Draw(t, "state")
		data := fixture.Must(s.Marshal())(t)
		back, err := Parse(data, kinds)
		if err != nil {
			t.Fatalf("%v:\n%s", err, data)
		}
		if want, got := texts(s), texts(back); !reflect.DeepEqual(want, got) {
			t.Fatalf("%v is read as %v", want, got)
		}
	})
}

// texts makes states comparable: patterns hold compiled expressions, and numbers several forms.
func texts(s *State) []any {
	list := []any{s.Options.Accounting, s.Options.Granularity, s.Options.Classes, s.Options.NoInlines, s.Options.Span, s.Active}
	for _, a := range s.Aspects {
		list = append(list, a.Name())
		for _, p := range a.Patterns() {
			list = append(list, p.String())
		}
	}
	for _, window := range s.Windows {
		list = append(list, window.Kind().Name)
		var w *Profile
		switch window := window.(type) {
		case *Profile:
			w = window
		case *Comparison:
			w = &window.Profile
			list = append(list, window.Against)
		default:
			continue
		}
		list = append(list, w.Class, w.Selected, fmt.Sprint(w.Hits, w.Cost), len(w.Steps), len(w.Collapsed), len(w.Labels))
		for _, step := range w.Steps {
			list = append(list, step)
		}
		for _, key := range w.Collapsed {
			list = append(list, key)
		}
		for _, p := range w.Labels {
			list = append(list, p.String())
		}
	}
	return list
}

func states() *rapid.Generator[*State] {
	path := rapid.SampledFrom([]string{"*", `* .."a b" main.f`, "main.(*T).m ..@json", "go:main.worker ..:MONITOR go:main.ü", `* "@quoted"`})
	number := rapid.Custom(func(t *rapid.T) *big.Rat {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return big.NewRat(rapid.Int64Min(0).Draw(t, "numerator"), rapid.Int64Min(1).Draw(t, "denominator"))
	})
	step := rapid.Custom(func(t *rapid.T) refine.Step {
		s := refine.Step{Kind: rapid.SampledFrom([]refine.Kind{
			refine.KindDown, refine.KindExtended, refine.KindUp, refine.KindPrune, refine.KindFollow,
		}).Draw(t, "kind"), Text: path.Draw(t, "path")}
		switch s.Kind {
		case refine.KindUp:
			s.Text += " | " + path.Draw(t, "suffix")
		case refine.KindPrune:
			s.Text = "not (" + s.Text + ") or :RUN"
		}
		return s
	})
	label := rapid.Map(path, func(s string) callpath.Path {
		p, err := callpath.Parse(s)
		if err != nil {
			panic(err)
		}
		return p
	})
	window := rapid.Custom(func(t *rapid.T) Window {
		p := Profile{
			Class:     rapid.SampledFrom([]string{"", "go:main.worker", "label:route=/a b\n"}).Draw(t, "class"),
			Steps:     rapid.SliceOfN(step, 0, 5).Draw(t, "steps"),
			Threshold: refine.Threshold{Hits: number.Draw(t, "hits"), Cost: number.Draw(t, "cost")},
			Collapsed: rapid.SliceOfN(path, 0, 3).Draw(t, "collapsed"),
			Selected:  rapid.OneOf(rapid.Just(""), path).Draw(t, "selected"),
			Labels:    rapid.SliceOfN(label, 0, 3).Draw(t, "labels"),
		}
		if against := rapid.SampledFrom([]string{"", "../a b.cpprof", "/x/y"}).Draw(t, "against"); against != "" {
			return &Comparison{Profile: p, Against: against}
		}
		return &p
	})
	aspect := rapid.Custom(func(t *rapid.T) aspects.Aspect {
		patterns := rapid.SampledFrom([][]string{{}, {"main.*", "!os.*"}, {`re:x\.(y|z)<&>`}}).Draw(t, "patterns")
		return fixture.Must(aspects.New(rapid.SampledFrom([]string{"queue", "@wire"}).Draw(t, "name"), patterns...))(t)
	})
	return rapid.Custom(func(t *rapid.T) *State {
		s := &State{
			Options: views.Options{
				Accounting:  rapid.SampledFrom([]views.Accounting{views.Observed, views.Single, views.Processors}).Draw(t, "accounting"),
				Granularity: rapid.SampledFrom([]views.Granularity{views.ByFunction, views.ByLine, views.ByFile, views.ByPackage}).Draw(t, "by"),
				Classes:     rapid.SampledFrom([]views.ClassBy{{}, {Site: true}, {Label: "route"}, {Label: "a:b "}}).Draw(t, "classes"),
				NoInlines:   rapid.Bool().Draw(t, "no inlines"),
			},
			Summary: Summary{
				All: rapid.Bool().Draw(t, "all"), Filter: rapid.String().Draw(t, "filter"),
				Order: rapid.SampledFrom([]string{"", "RUN"}).Draw(t, "order"), Reversed: rapid.Bool().Draw(t, "reversed"),
			},
			Aspects: rapid.SliceOfN(aspect, 0, 2).Draw(t, "aspects"),
			Windows: rapid.SliceOfN(window, 0, 4).Draw(t, "windows"),
		}
		if rapid.Bool().Draw(t, "locks") {
			s.Windows = append(s.Windows, &Locks{Instances: rapid.Bool().Draw(t, "instances")})
		}
		s.Options.Span.From = time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "from"))
		if rapid.Bool().Draw(t, "has an end") {
			s.Options.Span.To = s.Options.Span.From + time.Duration(rapid.Int64Range(1, 1<<60).Draw(t, "length"))
		}
		s.Active = rapid.IntRange(0, len(s.Windows)).Draw(t, "active")
		return s
	})
}

// A window that was saved and replayed shows the same as before.
func TestReplay(t *testing.T) {
	r := synthetic.Recording(200, 50, 0.1)
	var w Profile
	view := fixture.Must(w.View(r, views.Options{}))(t)
	s := refine.NewSession(view.Tree, config.Builtin().Membership(view.Tree.Symbols()))
	s.SetThreshold(refine.Threshold{Cost: big.NewRat(1, 50)})
	if s.Auto(s.Root().Path, 5) == 0 {
		t.Fatal("there is nothing to refine")
	}
	s.Collapse(s.Root().Children[0].Path, true)
	w.KeepSteps(s)
	again, errs := w.Replay(view.Tree, s.Membership())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if want, got := shown(s), shown(again); want != got {
		t.Errorf("shown:\n%swant:\n%s", got, want)
	}
	w.Steps = append([]refine.Step{{Kind: refine.KindDown, Text: "* ..main.gone"}}, w.Steps...)
	again, errs = w.Replay(view.Tree, s.Membership())
	if len(errs) != 1 || !errors.Is(errs[0], refine.ErrNothing) || shown(again) != shown(s) {
		t.Errorf("with a step that finds nothing: %v\n%s", errs, shown(again))
	}
}

func shown(s *refine.Session) string {
	var b strings.Builder
	s.Walk(func(e *refine.Entry, depth int) {
		b.WriteString(strings.Repeat(" ", depth) + e.Hits.RatString() + " " + e.Key() + "\n")
	})
	return b.String()
}

// A session is in the recording's folder. Reading and replacing
// the recording works all the same.
func TestBesideTheRecording(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "r.cpprof")
	r := synthetic.Recording(3, 3, 0.5)
	fixture.Check(t, r.Write(folder))
	if _, err := Load(folder, kinds); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a session: %v", err)
	}
	for _, class := range []string{"go:a", "go:b"} {
		s := &State{Windows: []Window{&Profile{Class: class}}, Active: 1}
		fixture.Check(t, s.Save(folder))
		back, err := Load(folder, kinds)
		if err != nil || len(back.Windows) != 1 || back.Windows[0].(*Profile).Class != class || back.Active != 1 {
			t.Errorf("%v: %+v", err, back)
		}
	}
	if _, err := sampledata.Open(folder); err != nil {
		t.Errorf("with a session beside it: %v", err)
	}
	w, err := sampledata.Replace(folder, r.Header)
	if err != nil {
		t.Fatalf("with a session beside it: %v", err)
	}
	defer w.Close()
	if _, err := os.Stat(Path(folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the recording has been replaced, and its session is still there: %v", err)
	}
}

// Each file breaks one rule, and the error says which one.
func TestRefuses(t *testing.T) {
	const good = `{"version": 5, "accounting": "observed", "by": "function", "class_by": "function", "from": 1, "to": 2,
		"windows": [{"kind": "profile", "state": {"steps": [{"kind": "down", "text": "* a"}], "min_hits": "10", "collapsed": ["* a"], "selected": "* b", "labels": ["* ..c"]}}], "active": 1}`
	fixture.Must(Parse([]byte(good), kinds))(t)
	for _, c := range []struct{ from, to, want string }{
		{`"version": 5`, `"version": 6`, "format version 6, but this cpprof reads version 5"},
		{`"version": 5`, `"version": 0`, "format version 0"},
		{`"version": 5`, `"version": 1`, "format version 1"},
		{`"version": 5`, `"version": 5, "moon": 1`, `unknown field "moon"`},
		{`{"version"`, `{{"version"`, "invalid character"},
		{"observed", "magic", `unknown accounting "magic"`},
		{`"by": "function"`, `"by": "word"`, `unknown granularity "word"`},
		{`"class_by": "function"`, `"class_by": "label:"`, `unknown class rule "label:"`},
		{`"from": 1`, `"from": -1`, "the span from -1ns to 2ns"},
		{`"from": 1`, `"from": 2`, "the span from 2ns to 2ns"},
		{`"10"`, `"1e999999999"`, `window 1: math/big: cannot unmarshal "1e999999999"`},
		{`"10"`, `"1/0"`, `window 1: math/big: cannot unmarshal "1/0"`},
		{`"10"`, `"-1"`, `window 1: min_hits: "-1`},
		{`"* a"}`, `"a .."}`, "window 1: step 1:"},
		{`"kind": "down"`, `"kind": "up"`, "window 1: step 1:"},
		{`"kind": "down"`, `"kind": "prune"`, ""}, // a path is an expression
		{`"kind": "down"`, `"kind": "sideways"`, `unknown kind of step "sideways"`},
		{`["* a"]`, `["a .."]`, "window 1:"},
		{`"* b"`, `"b .."`, "window 1:"},
		{`["* ..c"]`, `["c .."]`, "window 1: call path:"},
		{`"profile", "state": {`, `"comparison", "state": {"against": "a\u0000", `, `window 1: against: "a\x00" is not a path`},
		{`"profile", "state": {`, `"comparison", "state": {"against": "` + strings.Repeat("a", maxPath+1) + `", `, "window 1: against:"},
		{`"profile"`, `"comparison"`, `window 1: against: "" is not a path`},
		{`"min_hits"`, `"against": "a", "min_hits"`, `window 1: json: unknown field "against"`},
		{`"profile"`, `"moon"`, `window 1: unknown kind of window "moon"`},
		{`"kind": "profile"`, `"moon": 1`, `json: unknown field "moon"`},
		{`"windows": [`, `"windows": [{"kind": "profile"}, `, "window 1: it has no state"},
		{`"windows": [`, `"windows": [{"kind": "locks", "state": {"moon": 1}}, `, `window 1: json: unknown field "moon"`},
		{`["* ..c"]`, `["c"` + strings.Repeat(`, "c"`, maxLabels) + `]`, "window 1: 1001 labels: at most 1000"},
		{`"active": 1`, `"active": 2`, "window 2 is active, but there are only 1"},
		{`"active": 1`, `"active": -1`, "window -1 is active"},
		{`"windows"`, `"aspects": [{"name": "a b", "patterns": []}], "windows"`, `aspect "a b"`},
		{`"windows"`, `"aspects": [{"name": "a", "patterns": ["re:("]}], "windows"`, `aspect "a"`},
		{`"windows": [`, `"windows": [{"kind": "locks", "state": {}}, {"kind": "profile", "state": {}}, {"kind": "locks", "state": {}}, `, "window 3: there is already a window of kind locks"},
		{`"windows": [`, `"windows": [` + strings.Repeat(`{"kind": "profile", "state": {}},`, maxWindows), "101 windows: at most 100"},
		{`"steps": [`, `"steps": [` + strings.Repeat(`{"kind": "down", "text": "*"},`, maxSteps), "more than 10000 steps"},
		{`"version": 5`, `"version": 5` + strings.Repeat(" ", maxFile), "more than 4194304 bytes"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		_, err := Parse([]byte(text), kinds)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s for %s: %v: want %q", c.to[:min(40, len(c.to))], c.from, err, c.want)
		}
	}
}

// A folder is not read as a session.
func TestLoadRefuses(t *testing.T) {
	folder := t.TempDir()
	fixture.Check(t, os.Mkdir(Path(folder), 0o777))
	if _, err := Load(folder, kinds); err == nil || !strings.Contains(err.Error(), Path(folder)) {
		t.Errorf("a folder: %v", err)
	}
	if err := (&State{}).Save(filepath.Join(folder, "not there")); err == nil {
		t.Error("it is saved into a folder that isn't there")
	}
}

// If a file can be read, its state can be written, and is the
// same when it is read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":5,"accounting":"observed","by":"function","class_by":"site","windows":[]}`))
	f.Add([]byte(`{"version":5,"accounting":"single","by":"line","class_by":"label:x","from":5,"aspects":[{"name":"q","patterns":["!a*"]}],
		"windows":[{"kind":"profile","state":{"class":"go:f","steps":[{"kind":"up","text":"* | :RUN"}],"min_cost":"1/20","labels":["* ..a","b"]}},
		{"kind":"locks","state":{}}],"active":1}`))
	f.Add([]byte(`{"version":5,"accounting":"observed","by":"function","class_by":"site","windows":[{"kind":"locks","state":{}},
		{"kind":"comparison","state":{"against":"../b.cpprof","class":"go:f","min_hits":"3"}},{"kind":"profile","state":{"collapsed":["*"]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, kinds)
		if err != nil {
			return
		}
		first, err := s.Marshal()
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		again := fixture.Must(Parse(first, kinds))(t)
		second, err := again.Marshal()
		if err != nil || string(first) != string(second) {
			t.Fatalf("%v:\n%swas:\n%s", err, second, first)
		}
	})
}
