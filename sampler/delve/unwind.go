package delve

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/go-delve/delve/pkg/proc"
)

const (
	usualDepth = 63   // number of frames of most stacks
	maxDepth   = 1000 // number of frames that are recorded; outermost ones beyond that are cut
)

// An unwinder turns copied stacks into nodes of a sink, by means of Delve.
type unwinder struct {
	p      *process
	target *proc.Target
	sink   sampledata.Sink

	functions map[string]sampledata.FunctionID
	starts    map[uint64]startPoint
	views     int // number of views made in this sample
}

// A stack is the result of unwinding one.
type stack struct {
	node sampledata.NodeID
	torn bool // the outermost frame was not reached
	deep bool // it was cut because it is too deep

	outermost startPoint // the function that was called first; only of a complete stack
}

// unwindGoroutine unwinds the stack of a goroutine: from its
// thread's registers, else from where the runtime saved its
// position.
func (u *unwinder) unwindGoroutine(c *capture, g *goroutine) stack {
	var best []proc.Stackframe
	for _, start := range u.startingPoints(c, g) {
		frames, whole := u.frames(start)
		if whole {
			return u.intern(frames, true)
		}
		if best == nil {
			best = frames
		}
	}
	return u.intern(best, false)
}

// startingPoints returns the registers to unwind from, best first.
func (u *unwinder) startingPoints(c *capture, g *goroutine) []viewRegisters {
	l := c.l
	var starts []viewRegisters
	lo, hi := word(g.raw, l.G.StackLo), word(g.raw, l.G.StackHi)
	if g.thread != nil {
		sp := g.thread.regs.SP()
		if sp >= lo && sp < hi {
			starts = append(starts, viewRegisters{g.thread.regs, g.addr})
		} else {
			starts = append(starts, viewRegisters{g.thread.regs, word(g.m, l.M.G0)})
		}
	}
	if sp := word(g.raw, l.G.SyscallSP); sp != 0 && g.status == goruntime.GSyscall {
		regs := savedRegisters(word(g.raw, l.G.SyscallPC), sp, 0, 0)
		starts = append(starts, viewRegisters{regs, g.addr})
	}
	regs := savedRegisters(word(g.raw, l.G.SchedPC), word(g.raw, l.G.SchedSP), word(g.raw, l.bp),
		word(g.raw, l.G.SchedLR))
	return append(starts, viewRegisters{regs, g.addr})
}

// frames unwinds from registers, innermost frame first. The
// stack is whole if it ends in the frame that the runtime puts
// below every goroutine.
func (u *unwinder) frames(regs viewRegisters) (frames []proc.Stackframe, whole bool) {
	u.views++
	v := &view{p: u.p, id: u.views, regs: u.p.withGoroutine(regs)}
	g, err := proc.GetG(v)
	if err != nil || g == nil {
		return nil, false
	}
	frames, err = proc.GoroutineStacktrace(u.target, g, usualDepth, 0)
	if err == nil && len(frames) > usualDepth {
		frames, err = proc.GoroutineStacktrace(u.target, g, maxDepth, 0)
	}
	if err != nil || len(frames) == 0 {
		return nil, false
	}
	last := frames[len(frames)-1]
	if last.Err != nil {
		frames = frames[:len(frames)-1]
	}
	for i := range frames {
		if fn := frames[i].Call.Fn; fn != nil && fn.Name == goruntime.Bottom {
			return frames[:i], true
		}
	}
	return frames, false
}

// intern returns the node of a list of frames, innermost first.
func (u *unwinder) intern(frames []proc.Stackframe, whole bool) stack {
	s := stack{node: sampledata.NoStack, torn: !whole, outermost: startPoint{function: -1}}
	if len(frames) > maxDepth {
		frames = frames[:maxDepth]
		s.torn, s.deep = true, true
	}
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		if f.Call.Fn != nil && sampler.IsWrapper(f.Call.Fn.Name, f.Call.File) {
			continue
		}
		function := u.function(&f.Call)
		if s.node == sampledata.NoStack && whole && f.Call.Fn != nil {
			s.outermost = startPoint{function, f.Call.Fn.Name}
		}
		s.node = u.sink.Node(sampledata.Node{
			Parent:   s.node,
			Function: function,
			Line:     int32(max(f.Call.Line, 0)),
			Inlined:  f.Inlined && s.node != sampledata.NoStack,
		})
	}
	return s
}

// function interns a function by its name: an inlined copy is
// the same function as the one that is called.
func (u *unwinder) function(at *proc.Location) sampledata.FunctionID {
	if at.Fn == nil {
		return u.sink.Function(sampledata.Function{Name: "unknown"})
	}
	if id, ok := u.functions[at.Fn.Name]; ok {
		return id
	}
	f := sampledata.Function{Name: at.Fn.Name, File: at.File}
	if own := u.p.bi.LookupFunc()[f.Name]; len(own) > 0 && own[0].Entry != 0 {
		var line int
		f.File, line = u.p.bi.EntryLineForFunc(own[0])
		f.Line = int32(max(line, 0))
	}
	id := u.sink.Function(f)
	u.functions[f.Name] = id
	return id
}

// A startPoint is a goroutine's start function; -1 and no name
// if it is not known.
type startPoint struct {
	function sampledata.FunctionID
	name     string
}

// start returns the function of a goroutine's go statement. If
// the compiler wrapped the call, that is the outermost function
// of the goroutine's stack that is no wrapper. For a goroutine
// that has not begun yet, it is the function that the wrapper
// calls.
func (u *unwinder) start(c *capture, g *goroutine, st stack) startPoint {
	pc := word(g.raw, c.l.G.StartPC)
	fn := u.p.bi.PCToFunc(pc)
	if fn == nil {
		return startPoint{function: -1}
	}
	file, line := u.p.bi.EntryLineForFunc(fn)
	if sampler.IsWrapper(fn.Name, file) && st.outermost.name != "" {
		return st.outermost
	}
	if s, ok := u.starts[pc]; ok {
		return s
	}
	at := proc.Location{PC: pc, File: file, Line: line, Fn: fn}
	if sampler.IsWrapper(fn.Name, file) {
		at = u.wrapped(at)
	}
	s := startPoint{u.function(&at), at.Fn.Name}
	u.starts[pc] = s
	return s
}

// wrapped returns the function that a wrapper around a go
// statement's call calls: a function inlined into it, or the
// first one called that is not a helper of the runtime.
func (u *unwinder) wrapped(wrapper proc.Location) proc.Location {
	code, err := proc.Disassemble(u.p.mem, nil, &u.p.bps, u.p.bi, wrapper.Fn.Entry, wrapper.Fn.End)
	if err != nil {
		return wrapper
	}
	for i := range code {
		frames, _ := u.frames(viewRegisters{savedRegisters(code[i].Loc.PC, slot+64, 0, 0), 0})
		for j := range frames {
			if j > 0 && frames[j-1].Inlined && !frames[j].Inlined &&
				frames[j].Call.Fn.Name == wrapper.Fn.Name {
				return frames[j-1].Call
			}
		}
		if to := code[i].DestLoc; code[i].IsCall() && to != nil && to.Fn != nil &&
			!goruntime.GrowsStack(to.Fn.Name) {
			return *to
		}
	}
	return wrapper
}

// site returns the position of a goroutine's go statement.
func (u *unwinder) site(pc uint64) sampledata.Site {
	fn := u.p.bi.PCToFunc(pc)
	if fn == nil {
		return sampledata.Site{}
	}
	if pc > fn.Entry {
		pc-- // into the call
	}
	file, line, _ := u.p.bi.PCToLine(pc)
	if file == "<autogenerated>" {
		return sampledata.Site{} // the main goroutine: no go statement created it
	}
	return sampledata.Site{Function: fn.Name, File: file, Line: int32(max(line, 0))}
}
