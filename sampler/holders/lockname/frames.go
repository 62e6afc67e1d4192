package lockname

import (
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// maxWaiterFrames is how many frames of a waiter are kept.
const maxWaiterFrames = 16

// NewWaiter returns a goroutine that waits for a lock. stack is
// the copied part of its stack, which begins at base; frames are
// the copy's, innermost first. paths returns how a frame reached
// the lock that it takes, if the code shows it.
func NewWaiter(
	lock, base uint64, stack []byte, u *unwind.Unwinder, frames []unwind.Frame,
	paths func(*unwind.Frame) []syncflow.LockPath,
) *Waiter {
	w := &Waiter{Lock: lock, Base: base, Stack: stack}
	for i := range frames[:max(0, len(frames)-1)] {
		logical := u.Frames(frames[i].Site)
		if len(logical) == 0 || len(w.Frames) == 0 && waitsForOthers(logical[len(logical)-1].Func) {
			continue
		}
		if len(w.Frames) == 0 {
			w.Paths = paths(&frames[i])
		}
		w.Frames = append(w.Frames, Frame{PC: frames[i].PC, SP: frames[i].SP, CFA: frames[i+1].SP})
		if len(w.Frames) == maxWaiterFrames {
			break
		}
	}
	return w
}

// waitsForOthers reports whether a function takes locks on behalf of its
// callers.
func waitsForOthers(function string) bool {
	return goruntime.IsRuntime(function) || goruntime.IsSync(function)
}
