package syncflow

import (
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// parkFrames bounds the innermost frames of a goroutine that is
// parked, down to the one that waits for a semaphore.
const parkFrames = 6

// A semaphoreWait has the expressions for two addresses in a
// frame of runtime.semacquire1: the semaphore's, and the one of
// the runtime.sudog with which the goroutine waits.
type semaphoreWait struct{ semaphore, sudog *expr }

// Semaphore returns the addresses of the semaphore that a
// goroutine waits for, and of the runtime.sudog with which it
// waits, if the goroutine is parked in runtime.semacquire1: the
// function's frame holds both. What is not found is 0. Frames
// come from the innermost to the outermost.
func (a *Analyzer) Semaphore(frames []unwind.Frame, m Memory) (semaphore, sudog uint64) {
	for i := range frames[:min(len(frames), parkFrames)] {
		f := &frames[i]
		if f.Exact || f.System {
			continue
		}
		if t := a.semaphoreAt(f); t != nil {
			fr := frame{sp: f.SP, m: m}
			semaphore, _ = t.semaphore.eval(&fr)
			sudog, _ = t.sudog.eval(&fr)
			return semaphore, sudog
		}
	}
	return 0, 0
}

// semaphoreAt returns how to find the semaphore from a frame,
// nil if the frame is not semacquire1's. There are few places at
// which goroutines are parked, so all of them are known soon.
func (a *Analyzer) semaphoreAt(f *unwind.Frame) *semaphoreWait {
	t, known := a.semaphores[f.Site]
	if !known {
		t = a.findSemaphoreAt(f.PC)
		a.semaphores[f.Site] = t
	}
	return t
}

func (a *Analyzer) findSemaphoreAt(pc uint64) *semaphoreWait {
	fn, ok := a.p.Table.Func(pc)
	if !ok || a.callee(fn.Entry).role != goruntime.CallSemacquire {
		return nil
	}
	w := a.flowOf(fn)
	if w == nil {
		return nil
	}
	i := w.callBefore(pc)
	if i < 0 {
		return nil
	}
	s := w.stateBefore(i)
	if s == nil {
		return nil
	}
	t := &semaphoreWait{semaphore: w.exprFor(s, w.values.entry(a.machine.argument), false, 0)}
	for i := range w.code {
		if x := &w.code[i]; x.Op == machinecode.OpCall && !x.Indirect &&
			a.callee(x.Target).role == goruntime.CallSudog {
			t.sudog = w.exprFor(s, w.sudogValue(x), false, 0)
		}
	}
	return t
}
