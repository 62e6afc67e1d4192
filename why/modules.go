package why

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// mostOf is the share of a finding that a frame has at least to
// be named with it.
const mostOf = 0.9

// modules divides stacks by the modules of their functions.
type modules struct {
	*views.Modules
	r *sampledata.Recording
}

// passages returns the functions that nearly all of some
// situations go through: where one unit calls another, the
// function that calls and the one that is called, outermost
// first. If a library is called by way of several functions,
// they are one: "A or B". The standard library is no unit, and the
// runtime's goroutines go through none.
func (s *searcher) passages(of func(*situation) bool) (all []string) {
	var order []sampledata.FunctionID // as on the stacks
	weights, total := make(map[sampledata.FunctionID]float64), 0.0
	entries, units := make(map[string][]sampledata.FunctionID), make(map[string]float64)
	for _, at := range s.e.situations {
		if at.state.Stack == sampledata.NoStack || s.e.classes[at.class].runtimes || !of(at) {
			continue
		}
		total += at.weight
		borders, entered := s.borders(at.state.Stack)
		for _, f := range borders {
			if weights[f] == 0 {
				order = append(order, f)
			}
			weights[f] += at.weight
		}
		for unit, f := range entered {
			units[unit] += at.weight
			if !slices.Contains(entries[unit], f) {
				entries[unit] = append(entries[unit], f)
			}
		}
	}
	most := func(f sampledata.FunctionID) bool { return weights[f] >= mostOf*total }
	few := func(f sampledata.FunctionID) bool { return weights[f] < minPart*total }
	ways := make(map[sampledata.FunctionID]string) // by the first one
	delete(entries, s.modules.Main())              // the program is at both ends
	for unit, functions := range entries {
		if functions = slices.DeleteFunc(functions, few); units[unit] >= mostOf*total &&
			len(functions) > 1 && !slices.ContainsFunc(functions, most) {
			names := lists.Each(functions,
				func(f sampledata.FunctionID) string { return s.e.r.Functions[f].Name })
			ways[functions[0]] = strings.Join(names, " or ")
		}
	}
	for _, f := range order {
		if way := ways[f]; way != "" {
			all = append(all, way)
		} else if most(f) {
			all = append(all, s.e.r.Functions[f].Name)
		}
	}
	return all
}

// calling begins the names of what the standard library calls drivers,
// codecs, templates and orders of the program from.
var calling = []string{"database/sql.", "encoding/", "text/template.", "html/template.", "sort.", "slices.Sort"}

// borders returns the last function of each unit on a stack, and
// the first one of each that another unit calls, outermost
// first; these also by their units. Who calls what calls the program back,
// as database/sql does with a driver, is a last one, too.
func (s *searcher) borders(stack sampledata.NodeID) (all []sampledata.FunctionID,
	entered map[string]sampledata.FunctionID) {
	var path []sampledata.FunctionID
	var calls []bool // by function of the path: it calls one of these, which calls back
	gap := false
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		f := s.e.r.Nodes[n].Function
		name := s.e.r.Functions[f].Name
		switch {
		case s.modules.Of(f) == views.StdModule:
			gap = gap || slices.ContainsFunc(calling, func(begin string) bool { return strings.HasPrefix(name, begin) })
		case !locks.TakesForCallers(name):
			path, calls, gap = append(path, f), append(calls, gap), false
		}
	}
	slices.Reverse(path)
	slices.Reverse(calls)
	units := s.modules.units(path)
	entered = make(map[string]sampledata.FunctionID)
	for i, f := range path {
		called := i > 0 && units[i-1] != units[i]
		if _, known := entered[units[i]]; called && !known {
			entered[units[i]] = f
		}
		last := i+1 == len(path) || units[i+1] != units[i] || calls[i]
		if (called || last) && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all, entered
}

// units returns what the functions of a stack belong to: their
// modules. A package through which another one of its module
// calls itself, as through middleware, is a unit of its own.
func (m *modules) units(path []sampledata.FunctionID) (units []string) {
	for i := 0; i < len(path); {
		module, from := m.Of(path[i]), i
		for ; i < len(path) && m.Of(path[i]) == module; i++ {
			units = append(units, module)
		}
		m.divide(path[from:i], units[from:])
	}
	return units
}

// divide sets the units of functions of one module that call one another.
func (m *modules) divide(path []sampledata.FunctionID, units []string) {
	type span struct{ first, last int }
	spans := make(map[string]span) // by package
	for i, f := range path {
		at, ok := spans[m.pkg(f)]
		if !ok {
			at.first = i
		}
		at.last = i
		spans[m.pkg(f)] = at
	}
	for i, f := range path {
		own := m.pkg(f)
		for pkg, at := range spans {
			if pkg != own && at.first < i && i < at.last {
				units[i] = own
			}
		}
	}
}

// pkg returns the folder of a function's file: its package.
func (m *modules) pkg(f sampledata.FunctionID) string {
	file := m.r.Functions[f].File
	return file[:strings.LastIndexByte(file, '/')+1]
}
