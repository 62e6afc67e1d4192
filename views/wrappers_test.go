package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// TestWrappers checks which function names the class of a goroutine that began with a wrapper.
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

// TestMergedClasses checks that merged classes have the sums of their members, and that members keep their priorities.
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
	summaries, err := Classes(r, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(summaries) != 2 || summaries[0].Class != "go:b" || summaries[0].Hits != 2 || summaries[0].Goroutines != 2 {
		t.Errorf("classes %+v", summaries)
	}
	compareHits(t, "c", hitsOf(thread(t, r, "go:c", o).Tree), map[string]string{
		"go:c\n:PRIO\ngo:b": "1/2",
		"go:c\n:LOAD\ngo:b": "1/2",
	})
}
