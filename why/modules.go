package why

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// mostOf is the share of a finding that a frame has at least to be named with it.
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
// through: of each module, the last one before the next module, outermost
// first. The standard library is no module of its own here.
func (s *searcher) passages(of func(*situation) bool) (all []string) {
	weights, total := make(map[sampledata.FunctionID]float64), 0.0
	var order []sampledata.FunctionID // as on the stacks
	for i := range s.e.situations {
		at := &s.e.situations[i]
		if at.state.Stack == sampledata.NoStack || !of(at) {
			continue
		}
		total += at.weight
		for _, f := range s.lasts(at.state.Stack) {
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

// lasts returns the last function of each module on a stack, before the next
// one's, outermost first.
func (s *searcher) lasts(stack sampledata.NodeID) (all []sampledata.FunctionID) {
	inner := ""
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		f := s.e.r.Nodes[n].Function
		module := s.modules.module(f)
		if module != stdModule && module != inner && !slices.Contains(all, f) {
			all = append(all, f)
		}
		if module != stdModule {
			inner = module
		}
	}
	slices.Reverse(all)
	return all
}
