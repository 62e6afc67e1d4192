//go:build linux && (amd64 || arm64)

package snapshot

import (
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A start is the function of a go statement.
type start struct {
	function sampledata.FunctionID // -1 if not known
	system   bool
	gc       bool
}

// start returns the function of the go statement whose
// goroutines begin at pc. read reads the target's code.
func (s *stacks) start(pc uint64, read func(at uint64, b []byte) error) start {
	if st, ok := s.starts[pc]; ok {
		return st
	}
	st := start{function: -1}
	if frame, ok := s.begun(pc, read); ok {
		st.function = s.function(frame)
		st.system, st.gc = goruntime.IsSystem(frame.Func), goruntime.IsCollector(frame.Func)
	}
	s.starts[pc] = st
	return st
}

// begun finds the function. For go f(x), the compiler generates
// a wrapper without arguments, main.main.gowrap1, that calls f
// or has it inlined. The function of the go statement is f.
func (s *stacks) begun(pc uint64, read func(at uint64, b []byte) error) (pclntab.Frame, bool) {
	f, ok := s.table.Func(pc)
	if !ok {
		return pclntab.Frame{}, false
	}
	if sampler.IsWrapper(f.Name(), "") || s.release.IsWrapperOf121(uint8(f.ID)) {
		if frame, ok := s.wrapped(&f, read); ok {
			return frame, true
		}
	}
	return s.whole(f.Entry)
}

// maxWrapper is the maximum length of a wrapper.
const maxWrapper = 4096

// wrapped returns the function that a wrapper was generated to call.
func (s *stacks) wrapped(f *pclntab.Func, read func(at uint64,
	b []byte) error) (pclntab.Frame, bool) {
	name := f.Name()
	// Other calls of a wrapper: the one that grows its stack,
	// and helpers of the compiler.
	isHelper := func(callee string) bool {
		return goruntime.GrowsStack(callee) ||
			strings.HasPrefix(callee, "runtime.") && !strings.HasPrefix(name, "runtime.")
	}
	var frames []pclntab.Frame
	code := make([]byte, min(f.End-f.Entry, maxWrapper))
	for i := range code {
		frames = f.Frames(frames[:0], f.Entry+uint64(i))
		if n := len(frames); n > 1 && !isHelper(frames[n-2].Func) {
			return frames[n-2], true
		}
	}
	if read(f.Entry, code) != nil {
		return pclntab.Frame{}, false
	}
	for _, x := range s.machine.Decode(nil, code, f.Entry) {
		if x.Op != machinecode.OpCall || x.Indirect {
			continue
		}
		if frame, ok := s.whole(x.Target); ok && !isHelper(frame.Func) {
			return frame, true
		}
	}
	return pclntab.Frame{}, false
}

// whole returns the function that begins at an address.
func (s *stacks) whole(entry uint64) (pclntab.Frame, bool) {
	frames, ok := s.table.Frames(nil, entry)
	if !ok || len(frames) == 0 {
		return pclntab.Frame{}, false
	}
	return frames[len(frames)-1], true
}
