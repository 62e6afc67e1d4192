package why

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// mostOf is the share of a finding that a frame has at least to be named
// with it.
const mostOf = 0.9

// modules finds out to which modules functions belong.
type modules struct {
	r  *sampledata.Recording
	of []string // by function; "" until asked
}

// The modules that have no version.
const (
	ownModule = "the program's own"
	stdModule = "the standard library's"
)

// module returns the module of a function, with its version. Files of other
// modules have that in their names.
func (m *modules) module(f sampledata.FunctionID) string {
	if m.of == nil {
		m.of = make([]string, len(m.r.Functions))
	}
	if m.of[f] == "" {
		m.of[f] = moduleOf(&m.r.Functions[f])
	}
	return m.of[f]
}

func moduleOf(f *sampledata.Function) string {
	if !views.IsOwn(f.Name) {
		return stdModule
	}
	if at := strings.LastIndexByte(f.File, '@'); at >= 0 {
		version, _, _ := strings.Cut(f.File[at:], "/")
		return f.File[:at] + version
	}
	if _, vendored, ok := strings.Cut(f.File, "/vendor/"); ok {
		return strings.Join(strings.SplitN(vendored, "/", 4)[:min(3,
			strings.Count(vendored, "/")+1)], "/")
	}
	return ownModule
}

// passages returns the functions that nearly all of some situations go
// through: where one module calls another, the function that calls and the one
// that is called, outermost first. The standard library is no module here.
func (s *searcher) passages(of func(*situation) bool) (all []string) {
	weights, total := make(map[sampledata.FunctionID]float64), 0.0
	var order []sampledata.FunctionID // as on the stacks
	for i := range s.e.situations {
		at := &s.e.situations[i]
		if at.state.Stack == sampledata.NoStack || !of(at) {
			continue
		}
		total += at.weight
		for _, f := range s.borders(at.state.Stack) {
			if weights[f] == 0 {
				order = append(order, f)
			}
			weights[f] += at.weight
		}
	}
	for _, f := range order {
		if weights[f] >= mostOf*total {
			all = append(all, s.e.r.Functions[f].Name)
		}
	}
	return all
}

// borders returns the last function of each module on a stack, and the first
// one of each that another module calls, outermost first.
func (s *searcher) borders(stack sampledata.NodeID) (all []sampledata.FunctionID) {
	add := func(f sampledata.FunctionID) {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	var inner sampledata.FunctionID
	module := ""
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		f := s.e.r.Nodes[n].Function
		of := s.modules.module(f)
		if of == stdModule || locks.TakesForCallers(s.e.r.Functions[f].Name) {
			continue
		}
		if of != module {
			if module != "" {
				add(inner)
			}
			add(f)
		}
		inner, module = f, of
	}
	slices.Reverse(all)
	return all
}
