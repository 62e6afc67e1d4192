package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// TestWrappers checks which function names the class of a
// goroutine that began with a wrapper.
func TestWrappers(t *testing.T) {
	s := newSketch(t)
	o := Options{Wrapper: func(f string) bool { return strings.HasPrefix(f, "pool.") }}
	begin := func(stacks ...string) sampledata.GoroutineID {
		g := s.goroutine("pool.run.func1")
		for _, frames := range stacks {
			stack := stackOf(s.Builder, strings.Fields(frames)...)
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: stack, Run: sampledata.Waiting, Reason: "select"}})
		}
		return g
	}
	const top = "runtime.goexit pool.run.func1 "
	for g, want := range map[sampledata.GoroutineID][]string{
		begin(top+"main.fetch net.Read", top+"pool.done sync.(*WaitGroup).Done", top+"pool.try main.fetch"): {"go:main.fetch"},
		begin(top+"main.mail", top+"runtime.gopark", top+"main.order main.mail"):                            {"go:main.mail", "go:main.order", "go:pool.run.func1"},
		begin(top + "runtime.chanrecv1 runtime.gopark"):                                                     {"go:pool.run.func1"},
		begin("main.torn net.Read"): {"go:pool.run.func1"},
	} {
		r := s.Recording()
		of := ClassOf(r, o)
		var classes []string
		for i := range r.Runs.Len() {
			if run := r.Runs.At(i); run.Goroutine == g {
				classes = append(classes, of(run))
			}
		}
		slices.Sort(classes)
		if got := slices.Compact(classes); !slices.Equal(got, want) {
			t.Errorf("goroutine %d is of the classes %v, want %v", g, got, want)
		}
	}
}

// TestMergedClasses checks that merged classes have the sums of
// their members, and that members keep their priorities.
func TestMergedClasses(t *testing.T) {
	s := newSketch(t)
	a, b, c := s.goroutine("a"), s.goroutine("b"), s.goroutine("c")
	run := sampledata.State{Run: sampledata.Running, Stack: sampledata.NoStack}
	ready := sampledata.State{Run: sampledata.Runnable, Stack: sampledata.NoStack}
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: run, b: run, c: ready})
	o := Options{
		Merged:   func(class string) string { return strings.Replace(class, "go:a", "go:b", 1) },
		Priority: func(class string) (int32, bool) { return 7, class == "go:a" },
	}
	r := s.Recording()
	summaries := fixture.Must(Classes(r, o))(t)
	if len(summaries) != 2 || summaries[0].Class != "go:b" || summaries[0].Hits != 2 || summaries[0].Goroutines != 2 {
		t.Errorf("classes %+v", summaries)
	}
	compareHits(t, "c", hitsOf(thread(t, r, "go:c", o).Tree), map[string]string{
		"go:c\n:PRIO\ngo:b": "1/2",
		"go:c\n:LOAD\ngo:b": "1/2",
	})
}

// Stacks leave out what the compiler makes of "go work(i)". A
// goroutine that has no stack yet, or ends, is of the class of
// the others.
func TestWrapperThatStacksLeaveOut(t *testing.T) {
	s := newSketch(t)
	o := Options{Wrapper: func(f string) bool { return strings.HasSuffix(f, ".gowrap1") }}
	stack := stackOf(s.Builder, "runtime.goexit", "main.main.func2", "main.fetch")
	s.sample(map[sampledata.GoroutineID]sampledata.State{
		s.goroutine("main.main.gowrap1"): {Stack: stack, Run: sampledata.Running},
		s.goroutine("main.main.gowrap1"): {Stack: sampledata.NoStack, Run: sampledata.Runnable},
		s.goroutine("main.main.gowrap1"): {Stack: stackOf(s.Builder, "runtime.goexit", "runtime.mcall"), Run: sampledata.Running},
	})
	all, err := Classes(s.Recording(), o)
	if err != nil || len(all) != 1 || all[0].Class != "go:main.main.func2" {
		t.Errorf("classes %+v, %v", all, err)
	}
}

// TestWrapperForms checks which functions are wrappers by what goroutines do below them.
func TestWrapperForms(t *testing.T) {
	const waits = " runtime.selectgo"
	for name, c := range map[string]struct {
		stacks [][]string // by goroutine, one after another; a frame can have a line
		want   bool
	}{
		"requests that come and go":            {[][]string{{"safe.Go.func1:7 main.read:1" + waits, "ends"}, {"safe.Go.func1:7 main.write:1" + waits, "ends"}}, false},
		"each goroutine stays in one function": {[][]string{{"safe.Go.func1:7 main.read:1" + waits}, {"safe.Go.func1:7 main.write:1" + waits}}, true},
		"all are in the same":                  {[][]string{{"safe.Go.func1:7 main.read:1" + waits}, {"safe.Go.func1:7 main.read:2" + waits}}, false},
		"below a wrapper with a name":          {[][]string{{"pool.run safe.Go.func1:7 main.read:1"}, {"pool.run safe.Go.func1:7 main.write:1"}}, true},
		"calls of different lines":             {[][]string{{"safe.Go.func1:7 main.read:1" + waits}, {"safe.Go.func1:8 main.write:1" + waits}}, false},
		"lines that are not known":             {[][]string{{"safe.Go.func1 main.read" + waits}, {"safe.Go.func1 main.write" + waits}}, false},
		"one function after another":           {[][]string{{"safe.Go.func1:7 main.read", "safe.Go.func1:7 main.write"}, {"safe.Go.func1:7 main.write"}}, false},
		"it waits for the next task":           {[][]string{{"safe.Go.func1:7 main.read"}, {"safe.Go.func1:7 main.write", "safe.Go.func1:6" + waits}}, false},
		"not the program's":                    {[][]string{{"time.goFunc:7 main.read"}, {"time.goFunc:7 main.write"}}, false},
	} {
		s := newSketch(t)
		s.sample(nil)
		var ended []sampledata.GoroutineID
		for _, stacks := range c.stacks {
			g := s.goroutine("safe.Go.func1")
			if stacks[len(stacks)-1] == "ends" {
				stacks = stacks[:len(stacks)-1]
				ended = append(ended, g)
			}
			for i := range 2 * leastStay {
				stack := stackOf(s.Builder, strings.Fields("runtime.goexit "+stacks[i%len(stacks)])...)
				s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: stack, Run: sampledata.Waiting, Reason: "select"}})
			}
		}
		s.sample(nil, ended...)
		s.sample(nil)
		is := Options{Wrapper: func(f string) bool { return f == "pool.run" }}.WithWrappers(s.Recording()).Wrapper
		if got := is("safe.Go.func1") || is("time.goFunc"); got != c.want {
			t.Errorf("%s: a wrapper: %t, want %t", name, got, c.want)
		}
	}
}

// Recordings that are compared have the same classes: what one
// shows to be a wrapper is one in the other, too.
func TestWrapperFormsOfBoth(t *testing.T) {
	var both [2]Named
	for i, loops := range [][]string{{"main.read", "main.write"}, {"main.read"}} {
		s := newSketch(t)
		for _, loop := range loops {
			g := s.goroutine("safe.Go.func1")
			for range leastStay {
				s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Run: sampledata.Running,
					Stack: stackOf(s.Builder, "runtime.goexit", "safe.Go.func1:7", loop)}})
			}
		}
		both[i].Recording = s.Recording()
	}
	pairs := fixture.Must(ComparedClasses(both[0], both[1], Options{Wrapper: func(string) bool { return false }}))(t)
	var classes []string
	for _, p := range pairs {
		classes = append(classes, p.Class)
	}
	slices.Sort(classes)
	if !slices.Equal(classes, []string{"go:main.read", "go:main.write"}) {
		t.Errorf("classes %q", classes)
	}
}
