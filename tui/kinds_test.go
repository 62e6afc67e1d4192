package tui

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/tui/session"
)

// A windowTest opens a window of one kind for the tests of all windows.
type windowTest struct {
	open func(testing.TB) *bench // with the window active

	// keys has a test for every binding, by its first key.
	keys map[string]keyTest

	// forgets are keys that undo those changes of the window
	// that a session does not keep.
	forgets []string

	// like is another kind whose windows have the same keys with
	// the same effects; the keys are tested there.
	like string
}

// windowTests has a test for every kind of window.
var windowTests = map[string]windowTest{
	"summary": {keys: summaryKeys, open: func(t testing.TB) *bench {
		b := newBench(t, manyClasses(t, 40))
		b.keys("j")
		return b
	}},
	"profile": {keys: profileKeys, open: func(t testing.TB) *bench { return bobThread(t) }},
	"comparison": {like: "profile", open: func(t testing.TB) *bench {
		before := writtenTwin(t, "before")
		b := newBench(t, Options{Path: filepath.Join(filepath.Dir(before), "after.cpprof"), Recording: twin(t, "after"),
			Against: &Against{Path: before, Recording: twin(t, "before")}, Windows: threadWindow("go:main.worker")})
		b.keys("Enter")
		return b
	}},
	"holders": {like: "profile", open: func(t testing.TB) *bench {
		b := bobThread(t)
		b.keys("L", "h")
		return b
	}},
	"locks": {keys: lockKeys, forgets: []string{"g"}, open: func(t testing.TB) *bench {
		b := locksOf(t, manyLocks(t, 30))
		b.keys("j")
		return b
	}},
	"scatter": {keys: scatterKeys, open: func(t testing.TB) *bench {
		b := newBench(t, withSeries(t, 0))
		b.line(":scatter process.resident, cpu.used")
		return b
	}},
	"matrix": {keys: matrixKeys, open: func(t testing.TB) *bench {
		b := newBench(t, withSeries(t, 0))
		b.line(":matrix process.resident, cpu.used, time")
		return b
	}},
	"calls":  {keys: callsKeys, open: func(t testing.TB) *bench { return callsOf(t) }},
	"tracks": {keys: tracksKeys, open: func(t testing.TB) *bench { return tracksOf(t) }},
	"findings": {keys: findingsKeys, open: func(t testing.TB) *bench {
		b := newBench(t, Options{Path: "slow.cpprof", Recording: slowRecording(t)})
		b.keys("W", "j")
		return b
	}},
	"tree": {keys: treeKeys, open: func(t testing.TB) *bench {
		b := newBench(t, Options{Path: "slow.cpprof", Recording: treeRecording(t, 900)})
		b.keys("T", "j")
		return b
	}},
}

// modeTests are windows in a mode with other keys.
var modeTests = map[string]windowTest{
	"timeline": {keys: timelineKeys, open: func(t testing.TB) *bench {
		b := newBench(t, manyClasses(t, 40))
		b.keys("t")
		return b
	}},
}

// writtenTwin returns the path of one of the recordings of the
// command's tests.
func writtenTwin(t testing.TB, name string) string {
	path := filepath.Join(t.TempDir(), name+".cpprof")
	fixture.Check(t, twin(t, name).Write(path))
	return path
}

// eachWindow runs a test with an active window of each kind.
func eachWindow(t *testing.T, test func(t *testing.T, b *bench)) {
	for _, k := range new(app).kinds() {
		of, ok := windowTests[k.Name]
		if !ok {
			t.Errorf("there is no test for windows of the kind %s", k.Name)
			continue
		}
		t.Run(k.Name, func(t *testing.T) { test(t, of.open(t)) })
	}
	for name, of := range modeTests {
		t.Run(name, func(t *testing.T) { test(t, of.open(t)) })
	}
}

// bindings returns the bindings of the active window.
func (b *bench) bindings() (list []binding) {
	b.do(func() { list = b.app.window().bindings() })
	return list
}

// picks checks which line of the window's list is selected.
func picks(line int) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		t.Helper()
		var got int
		b.do(func() {
			switch w := b.window().(type) {
			case *summaryWindow:
				got = w.list.current()
			case *lockWindow:
				got = w.list.current()
			case *findingsWindow:
				got = w.list.current()
			case *treeWindow:
				got = w.list.current()
			case *tracksWindow:
				got = w.list.current()
			case *profileWindow:
				got = w.entries.current()
			}
		})
		if got != line {
			t.Errorf("line %d is selected, want %d\n%s", got, line, b.text())
		}
	}
}

// Every window has a title in its tab, and help on all its keys
// and commands that fits a screen of 80 columns.
func TestEveryWindowHasTitleAndHelp(t *testing.T) {
	eachWindow(t, func(t *testing.T, b *bench) {
		var title string
		var commands []command
		b.do(func() { title, commands = b.app.window().title(), b.allCommands(b.app.window()) })
		bindings := b.bindings()
		if tabs, _, _ := strings.Cut(b.text(), "\n"); title == "" || !strings.Contains(tabs, shorten(title, maxTab)) {
			t.Errorf("the title %q is not in the tabs %q", title, tabs)
		}
		b.resize(80, 130)
		b.keys("?")
		help := b.text()
		for _, own := range bindings {
			if own.description == "" {
				t.Errorf("the key %s has no help", own.keys[0])
			}
			checkHelp(t, help, own.keys[0], own.description)
		}
		for _, c := range commands {
			checkHelp(t, help, c.name, c.description)
		}
	})
}

// checkHelp checks that the help has lines that begin with a key
// or command and describe it.
func checkHelp(t *testing.T, help, name, description string) {
	t.Helper()
	text := strings.Join(strings.Fields(help), " ")
	if !strings.Contains(text, strings.Join(strings.Fields(description), " ")) || !strings.Contains(text, name) {
		t.Errorf("the help has no %s: %s\n%s", name, description, help)
	}
}

// No key of a window hides one of the app, except Esc; and no
// key has two meanings.
func TestKeysDoNotCollide(t *testing.T) {
	eachWindow(t, func(t *testing.T, b *bench) {
		seen := map[string]bool{}
		b.do(func() {
			for _, own := range b.appBindings() {
				for _, key := range own.keys {
					seen[key] = true
				}
			}
		})
		inTimeline := strings.HasSuffix(t.Name(), "/timeline")
		for _, own := range b.bindings() {
			for _, key := range own.keys {
				if seen[key] && key != "Esc" && !(inTimeline && key == "L") {
					t.Errorf("%s is bound twice", key)
				}
				seen[key] = true
			}
		}
	})
}

// Every key of every window has a test that passes, and every
// test has a key.
func TestEveryKeyOfEveryWindowLong(t *testing.T) {
	fixture.Long(t)
	for _, tests := range []map[string]windowTest{windowTests, modeTests} {
		for name, of := range tests {
			t.Run(name, func(t *testing.T) {
				if of.like == "" {
					testKeys(t, of)
				} else if got, want := names(of.open(t).bindings()), names(windowTests[of.like].open(t).bindings()); !slices.Equal(got, want) {
					t.Errorf("it has the keys %v, want those of the kind %s: %v", got, of.like, want)
				}
			})
		}
	}
}

func names(bindings []binding) (keys []string) {
	for _, own := range bindings {
		keys = append(keys, own.keys...)
	}
	return keys
}

func testKeys(t *testing.T, of windowTest) {
	tested := make(map[string]bool)
	for _, own := range of.open(t).bindings() {
		test, ok := of.keys[own.keys[0]]
		if !ok {
			t.Errorf("there is no test for the key %s: %s", own.keys[0], own.description)
			continue
		}
		tested[own.keys[0]] = true
		for _, key := range own.keys {
			t.Run(key, func(t *testing.T) {
				b := of.open(t)
				b.keys(test.keys...)
				before := b.text()
				b.keys(key)
				if b.text() == before && !test.unseen {
					t.Errorf("the key changes nothing:\n%s", before)
				}
				test.check(t, b)
			})
		}
	}
	for key := range of.keys {
		if !tested[key] {
			t.Errorf("%s is no longer a key", key)
		}
	}
}

// A button does the same as its key.
func TestEveryButtonOfEveryWindowLong(t *testing.T) {
	fixture.Long(t)
	for _, tests := range []map[string]windowTest{windowTests, modeTests} {
		for name, of := range tests {
			if of.like != "" {
				continue
			}
			for _, own := range labelled(of.open(t).bindings()) {
				t.Run(name+"/"+own.label, func(t *testing.T) {
					byKey, byMouse := of.open(t), of.open(t)
					for _, b := range []*bench{byKey, byMouse} {
						b.resize(200, 24)
						b.keys(of.keys[own.keys[0]].keys...)
					}
					byKey.keys(own.keys[0])
					byMouse.click(own.face(byMouse.screen) + " " + own.label)
					if byKey.text() != byMouse.text() {
						t.Errorf("the key shows\n%sthe button\n%s", byKey.text(), byMouse.text())
					}
				})
			}
		}
	}
}

// A window is restored with the same screen, and is written as
// text and as JSON, unless its kind says why a session does not
// keep it.
func TestEveryWindowIsKept(t *testing.T) {
	for _, k := range new(app).kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if (k.New == nil) == (k.whyNotKept == "") || (k.New == nil) != (k.reopen == nil) {
				t.Fatalf("a session keeps it, or the kind says why not; kept and not opened again is none of these: %+v", k)
			}
			b := windowTests[k.Name].open(t)
			b.keys(windowTests[k.Name].forgets...)
			var w session.Window
			b.do(func() { w = b.app.window().keep() })
			if k.New == nil {
				if w != nil {
					t.Errorf("it is kept: %+v", w)
				}
				return
			}
			if w == nil || w.Kind().Name != k.Name {
				t.Fatalf("a session keeps %+v", w)
			}
			testKept(t, b)
		})
	}
	for name := range windowTests {
		if !slices.ContainsFunc(new(app).kinds(), func(k kind) bool { return k.Name == name }) {
			t.Errorf("%s is no longer a kind of window", name)
		}
	}
}

// testKept restores a bench's session on its recording, and
// writes the active window.
func testKept(t *testing.T, b *bench) {
	data := fixture.Must(b.kept().Marshal())(t)
	state, err := session.Parse(data, SessionKinds())
	if err != nil {
		t.Fatalf("%v:\n%s", err, data)
	}
	again := newBench(t, Options{Path: b.path, Recording: b.recording, Session: state})
	if want, got := b.text(), again.text(); want != got {
		t.Errorf("it was\n%s\nand is\n%s", want, got)
	}
	conf := *config.Default()
	src := session.Source{Path: b.path, Recording: b.recording, Config: &conf, Options: state.Configure(&conf), Others: b.others}
	r := fixture.Must(state.Windows[state.Active-1].Report(&src))(t)
	var text, asJSON strings.Builder
	if r.Write(&text); text.Len() == 0 {
		t.Error("it is written as nothing")
	}
	if err := r.WriteJSON(&asJSON); err != nil || !json.Valid([]byte(asJSON.String())) {
		t.Errorf("%v: as data it is written as %q", err, asJSON.String())
	}
}
