package why

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

const (
	leastReturns  = 5 // of others from a function, if it is known to return
	timesOutstays = 3 // as long as the longest of these is a stay that may be endless
)

// neverLeft says that goroutines of a class were in a function in all
// samples, while others came and went, or that its only one was in one of
// a library, which it notes in the finding; "" if none was. They are at
// what the finding is about, or ready for it.
func (s *searcher) neverLeft(f *Finding) string {
	class := s.classOf(f)
	if class < 0 || f.Kind != ComputeKind {
		return ""
	}
	by, longest := make(map[string]int), make(map[string]float64) // by function: the goroutines; the others' longest stay
	there := s.stays(class, f.Where.Function)
	for g, its := range s.sightings(class) {
		function, at := s.innermost(its), there[g]
		always := at.first && at.last && its.busy >= max(leastActive, mostOf*its.all) && "go:"+function != f.Class
		if always && 2*at.within > at.life &&
			its.all >= timesOutstays*lists.Made(longest, function, func() float64 { return s.longestStay(class, function) }) {
			by[function]++
		}
		if always && s.e.classes[class].goroutines == 1 && s.inLibrary(class, function) {
			f.oneCall = true
			return "it was in " + function + " in all samples: one call that takes long or never returns, or several that follow at once"
		}
	}
	if len(by) == 0 {
		return ""
	}
	function := slices.MaxFunc(slices.Sorted(maps.Keys(by)), func(a, b string) int { return cmp.Compare(by[a], by[b]) })
	who := "a goroutine was"
	if n := by[function]; n > 1 {
		who = fmt.Sprintf("%d goroutines were", n)
	}
	return who + " in " + function + " in all samples, while others of the class came and went: it may never return, or be called again at once"
}

// inLibrary reports whether a function that goroutines of a class are in
// is of a library, and so is what it calls, and the program has called
// that. A library's own loop is not called.
func (s *searcher) inLibrary(class int32, function string) bool {
	r, main := s.e.r, s.modules.Main()
	isMain := func(n sampledata.NodeID) bool { return s.modules.Of(r.Nodes[n].Function) == main }
	return views.IsOwn(function) && !slices.ContainsFunc(s.members(class), func(at *situation) bool {
		n := at.state.Stack
		for ; n != sampledata.NoStack && r.NameAt(n) != function; n = r.Nodes[n].Parent {
			if isMain(n) {
				return true
			}
		}
		for ; n != sampledata.NoStack && !isMain(n); n = r.Nodes[n].Parent {
		}
		return n == sampledata.NoStack || r.NameAt(n) == function
	})
}

// A sighting is what was seen of a goroutine.
type sighting struct {
	in        []sampledata.FunctionID // in all samples, the outermost first
	all, busy float64                 // samples, and those in which it had work
}

// sightings returns what was seen of the goroutines of a class. Torn
// stacks say nothing.
func (s *searcher) sightings(class int32) map[sampledata.GoroutineID]*sighting {
	all := make(map[sampledata.GoroutineID]*sighting)
	for run, at := range s.e.runs(ofClass(class, hasStack)) {
		if run.Torn {
			continue
		}
		in := s.e.places.functions(at.state.Stack)
		its := lists.Made(all, run.Goroutine, func() *sighting { return &sighting{in: in} })
		samples := s.spanOf(run)
		its.all += samples
		if does := at.state.Doing; does.Executes() || does == views.Ready {
			its.busy += samples
		}
		same := 0
		for same < min(len(in), len(its.in)) && in[same] == its.in[same] {
			same++
		}
		its.in = its.in[:same]
	}
	return all
}

// innermost returns the innermost function that a goroutine did not
// leave, but for the runtime's.
func (s *searcher) innermost(its *sighting) string {
	for _, f := range slices.Backward(its.in) {
		if name := s.e.r.Functions[f].Name; !strings.HasPrefix(name, "runtime.") {
			return name
		}
	}
	return ""
}

// longestStay returns for how many samples goroutines of a class stay
// in a function from which they return; infinite if few were seen to.
func (s *searcher) longestStay(class int32, function string) float64 {
	now, returns, longest := make(map[sampledata.GoroutineID]float64), 0, 0.0
	for run, at := range s.e.runs(ofClass(class, hasStack)) {
		switch {
		case run.Torn:
		case s.e.places.through(at.state.Stack, function):
			now[run.Goroutine] += s.spanOf(run)
		case now[run.Goroutine] > 0:
			returns++
			longest = max(longest, now[run.Goroutine])
			delete(now, run.Goroutine)
		}
	}
	if returns < leastReturns {
		return math.Inf(1)
	}
	return longest
}

func hasStack(at *situation) bool { return at.state.Stack != sampledata.NoStack }

// spanOf returns how many samples of the span have a run.
func (s *searcher) spanOf(run sampledata.Run) float64 {
	return float64(min(run.Last+1, s.e.to) - max(run.First, s.e.from))
}

// functions returns the functions of a stack, the outermost first.
func (p *places) functions(stack sampledata.NodeID) (all []sampledata.FunctionID) {
	for ; stack != sampledata.NoStack; stack = p.r.Nodes[stack].Parent {
		all = append(all, p.r.Nodes[stack].Function)
	}
	slices.Reverse(all)
	return all
}
