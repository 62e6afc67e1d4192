package syncflow

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// Closures that a function passes to the runtime release locks
// later. They come from go statements, and from defer statements
// that the compiler can't put at the ends of the function. The
// memory of a closure begins with the address of its code; then
// come the variables that it has captured:
//
//	call newobject     // rax: the closure
//	mov  [rax], code
//	mov  [rax+8], rcx  // what it has captured
//	call newproc

// A word is one of memory that is not in the frame: v was stored
// at address at.
type word struct{ at, v value }

// maxWords bounds the words that are kept track of.
const maxWords = 16

// word returns what was stored at an address since the last
// call, 0 if that is not known.
func (s *state) word(at value) value {
	if i := slices.IndexFunc(s.words, func(w word) bool { return w.at == at }); i >= 0 && at != 0 {
		return s.words[i].v
	}
	return 0
}

func (s *state) setWord(at, v value) {
	s.words = slices.DeleteFunc(s.words, func(w word) bool { return w.at == at })
	if v != 0 && len(s.words) < maxWords {
		s.words = append(s.words, word{at, v})
	}
}

// putWords keeps track of a store to memory that is not in the frame.
func (w *flow) putWords(s *state, x *machinecode.Instr, at value) {
	if x.Size != 8 || at == 0 {
		return
	}
	for i, r := range []machinecode.Reg{x.Src, x.Src2} {
		if r != machinecode.NoReg && !(w.a.machine.ZeroIsSP && r == w.a.machine.SP) {
			s.setWord(w.values.add(at, int64(8*i)), w.nameOf(s, x, r))
		}
	}
}

// closureReleases returns the locks that a call of a closure
// will release on every path.
func (w *flow) closureReleases(s *state, closure value) (rs []release) {
	c := w.codeOf(s, closure)
	if c == nil {
		return nil
	}
	register := &s.regs[w.a.machine.closure]
	before := *register
	*register = closure
	for _, e := range w.a.effectsOf(c, w.depth+1) {
		if e.call {
			continue
		}
		r := release{lock: w.valueAtCall(s, e.lock), mode: e.mode, via: w.valueAtCall(s, e.via)}
		if e.change == releases && e.always && r.lock != 0 && (e.via == nil || r.via != 0) {
			rs = append(rs, r)
		}
	}
	*register = before
	return rs
}

// codeOf returns the function of a closure, nil if it is not known.
func (w *flow) codeOf(s *state, closure value) *function {
	if closure == 0 {
		return nil
	}
	code := s.word(closure)
	if off, ok := w.values.inFrame(closure); ok {
		code = s.slot(off)
	}
	if at, ok := w.constantOf(closure); ok {
		var b [8]byte
		if w.a.p.Read(uint64(at), b[:]) != nil {
			return nil
		}
		return w.a.callee(binary.LittleEndian.Uint64(b[:]))
	}
	if entry, ok := w.constantOf(code); ok {
		return w.a.callee(uint64(entry))
	}
	return nil
}

// deferCall brings a state past a call that puts a closure on
// the runtime's list of deferred functions.
func (w *flow) deferCall(s *state, role goruntime.CallRole) {
	closure := s.regs[w.a.machine.argument]
	if role == goruntime.CallDeferStack {
		entry, ok := w.values.inFrame(closure)
		if !ok {
			return
		}
		closure = s.slot(entry + goruntime.DeferFn)
	}
	for _, r := range w.closureReleases(s, closure) {
		if !slices.Contains(s.deferred, r) && len(s.deferred) < maxDeferred {
			s.deferred = append(s.deferred, r)
		}
	}
}

// maxDeferred bounds the releases by deferred functions that are kept track of.
const maxDeferred = 16

// runDeferred brings a state past a call that runs deferred
// functions. Those that are not known may release any lock.
func (w *flow) runDeferred(s *state) {
	for _, r := range s.deferred {
		w.record(eventReleases, r.lock, r.mode, r.via)
		w.releaseOf(s, r)
	}
	s.deferred = nil
	s.makeUnsure(Unwinding, func(*hold) bool { return true })
}

// goCall brings a state past a go statement: the new goroutine
// holds the locks that it releases.
func (w *flow) goCall(s *state) {
	for _, r := range w.closureReleases(s, s.regs[w.a.machine.argument]) {
		w.record(eventReleases, r.lock, r.mode, r.via)
		w.releaseOf(s, r)
	}
}
