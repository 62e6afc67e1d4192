package holders

import (
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// maxDeferred bounds the deferred functions of a goroutine that are considered.
const maxDeferred = 16

// deferred adds the uses by the functions on a goroutine's list of deferred
// functions. Usually a function's own code runs what it has deferred. If it
// can't, as for a defer statement in a loop, the functions are on that list.
func (e *enders) deferred(dst []syncflow.Action, st *Stack) (uses []syncflow.Action,
	complete bool) {
	link := e.release.DeferLink()
	word := func(at uint64) uint64 {
		w, ok := st.Memory.Stack(at)
		if !ok {
			w, _ = st.Memory.Heap(at)
		}
		return w
	}
	complete = true
	at := st.Deferred
	for n := 0; at != 0 && n < maxDeferred; n++ {
		if fn := word(at + goruntime.DeferFn); fn != 0 {
			var ok bool
			dst, ok = e.code.DeferredActions(dst, fn, st.Memory)
			complete = complete && ok
		}
		at = word(at + link)
	}
	return dst, complete
}
