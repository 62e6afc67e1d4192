package syncflow

import (
	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
)

// parkFrames bounds the innermost frames of a goroutine that is parked, down to the one that waits for a semaphore.
const parkFrames = 6

// A wait is where the frame of runtime.semacquire1 has the semaphore's address, and that of the runtime.sudog with which it
// waits.
type semaphoreWait struct{ semaphore, sudog *expr }

// Semaphore gives the address of the semaphore that a goroutine waits for that is parked in runtime.semacquire1: its
// argument, which it keeps in its frame; and of the runtime.sudog that it waits with. 0 where that can't be found. Frames
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

// waitAt gives how to find the semaphore from a frame, nil where it is not that of semacquire1. There are few places where
// goroutines are parked, so all of them are known soon.
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
		if x := &w.code[i]; x.Op == machinecode.OpCall && !x.Indirect && a.callee(x.Target).role == goruntime.CallSudog {
			t.sudog = w.exprFor(s, w.sudogValue(x), false, 0)
		}
	}
	return t
}
