//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A call is a logical frame in the sink's codes.
type call struct {
	function sampledata.FunctionID
	line     int32
	inlined  bool
}

// stacks converts memory to nodes of the sink. Each place in the
// code is symbolised once, and each stack is interned once.
type stacks struct {
	sink      sampledata.Sink
	table     *pclntab.Table
	release   goruntime.Release // the release of Go that built the target
	machine   *machinecode.Machine
	u         *unwind.Unwinder
	frames    []unwind.Frame // of the current stack
	partial   bool           // the outermost of them are missing
	functions map[pclntab.Frame]sampledata.FunctionID
	sites     [][]call // by unwind.Site, outermost first; nil if not known yet
	nodes     map[edge]sampledata.NodeID
	starts    map[uint64]start // by start PC
	cut       int64            // number of stacks deeper than the limit, since the last warning
}

// An edge leads from a stack to that stack with one more physical frame.
type edge struct {
	parent sampledata.NodeID
	site   unwind.Site
}

func newStacks(sink sampledata.Sink, bin *gobinary.Binary, u *unwind.Unwinder) *stacks {
	return &stacks{
		sink: sink, table: bin.Table, release: bin.Release,
		machine: machinecode.ForArch(bin.Arch), u: u,
		functions: map[pclntab.Frame]sampledata.FunctionID{},
		nodes:     map[edge]sampledata.NodeID{},
		starts:    map[uint64]start{},
	}
}

// unwind returns the stack of a goroutine in the sink's codes.
// Its frames are in s.frames until the next call.
func (s *stacks) unwind(mem unwind.Memory, c *unwind.Context) stack {
	var r unwind.Result
	s.frames, r = s.u.Unwind(s.frames[:0], mem, c)
	if s.partial = r.Cut || r.Torn; r.Cut {
		s.cut++
	}
	node := sampledata.NoStack
	for i := len(s.frames) - 1; i >= 0; i-- {
		e := edge{node, s.frames[i].Site}
		next, ok := s.nodes[e]
		if !ok {
			next = s.extend(node, e.site)
			s.nodes[e] = next
		}
		node = next
	}
	return stack{node: node, torn: r.Torn}
}

// extend adds the logical frames of a physical frame to a stack.
func (s *stacks) extend(node sampledata.NodeID, site unwind.Site) sampledata.NodeID {
	for _, c := range s.calls(site) {
		node = s.sink.Node(sampledata.Node{Parent: node, Function: c.function, Line: c.line,
			Inlined: c.inlined})
	}
	return node
}

// calls returns the logical frames of a place in the code,
// outermost first.
func (s *stacks) calls(site unwind.Site) []call {
	for int(site) >= len(s.sites) {
		s.sites = append(s.sites, nil)
	}
	if c := s.sites[site]; c != nil {
		return c
	}
	frames := s.u.Frames(site)
	calls := make([]call, 0, len(frames))
	inlinedInto := false // whether a frame was inlined into a frame that is shown
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		// Every goroutine's stack begins with the runtime's bootstrap function.
		if f.Func == goruntime.Bottom || sampler.IsWrapper(f.Func, f.File) {
			inlinedInto = false
			continue
		}
		calls = append(calls, call{s.function(f), f.Line, f.Inlined && inlinedInto})
		inlinedInto = true
	}
	s.sites[site] = calls
	return calls
}

func (s *stacks) function(f pclntab.Frame) sampledata.FunctionID {
	key := pclntab.Frame{Func: f.Func, File: f.File, StartLine: f.StartLine}
	id, ok := s.functions[key]
	if !ok {
		id = s.sink.Function(sampledata.Function{Name: f.Func, File: fileOf(f.File),
			Line: f.StartLine})
		s.functions[key] = id
	}
	return id
}

// fileOf returns the name of a file; "" if the compiler didn't know it.
func fileOf(file string) string {
	if file == "?" {
		return ""
	}
	return file
}

// site returns the position of the call before a return address.
func (s *stacks) site(pc uint64) sampledata.Site {
	frames, ok := s.table.Frames(nil, pc-1)
	if !ok || pc == 0 {
		return sampledata.Site{}
	}
	return sampledata.Site{Function: frames[0].Func, File: fileOf(frames[0].File),
		Line: frames[0].Line}
}
