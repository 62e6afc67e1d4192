package syncflow

import (
	"maps"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// What code does to locks is found out once for each place, and
// that is work. It is bounded, and what is needed most comes
// first: who holds a lock is most likely in a method of the type
// whose methods wait for it.

// Refill sets how much may be analysed until the next Refill;
// what is met beyond stays unknown until then. One unit is about
// an instruction; a million take a second or less. A function
// that is begun is analysed to its end, and what that takes too
// much is subtracted from the next Refill. As long as there is
// something to learn of stacks that likely hold a lock for which
// goroutines wait, half of the work is reserved for that; what
// is then left of it is for everything in the next sample. Such
// a stack is analysed even if nothing is left, up to maxDebt: a
// goroutine that runs won't be seen at the same place again.
func (a *Analyzer) Refill(work int) {
	a.left = min(a.left, a.reserve) + work
	if a.reserve = 0; a.wanted {
		a.reserve = work / 2
	}
	a.wanted = false
	a.calm, a.metSmall = !a.metSmall, false
}

// Limit bounds what is left of the work that Refill allowed. If
// it is so negative that the debt is too large, what is wanted
// most has to wait as well.
func (a *Analyzer) Limit(work int) { a.left = min(a.left, work) }

func (a *Analyzer) spend(work int) { a.left, a.spent = a.left-work, a.spent+work }

// Spent returns the work that was done so far, in the same units.
func (a *Analyzer) Spent() int { return a.spent }

// mayLearn reports whether one more place may be analysed.
func (a *Analyzer) mayLearn(urgent bool) bool {
	a.wanted = a.wanted || urgent
	return a.left > a.reserve || urgent && a.left > -maxDebt
}

// mayLearnActions reports whether one more place may be analysed
// for the actions in it. Large functions come last: with what
// they call, they take as much as hundreds of others. Most are
// engines and tables that hand nothing over. They wait until no
// other place that is met since the last Refill is unknown.
func (a *Analyzer) mayLearnActions(entry, end uint64) bool {
	if end-entry > largeFunction {
		return a.calm && a.mayLearn(false)
	}
	a.metSmall = true
	return a.mayLearn(false)
}

// largeFunction is the size of a large function, in bytes.
const largeFunction = 4096

// maxDebt is how much may be analysed beyond what the last
// Refill allowed. It is subtracted from the next ones.
const maxDebt = 50_000

// maxAwaited bounds the types and functions that are remembered by Awaited.
const maxAwaited = 1 << 10

// Awaited remembers where a goroutine waits for a lock. Its
// frames come from the innermost to the outermost.
func (a *Analyzer) Awaited(frames []unwind.Frame) {
	for i := range frames {
		owner := a.ownerOf(&frames[i])
		if owner == "" {
			continue
		}
		if len(a.awaited) >= maxAwaited {
			clear(a.awaited)
		}
		a.awaited[owner] = true
		for k := i; k < min(len(frames), i+2); k++ {
			a.noteWait(frames[k].PC)
		}
		return
	}
}

// noteWait remembers the function at an address as one in which
// goroutines wait for locks. What was found out about it before
// did not consider functions that it calls by what only its
// frame shows, and that may take and release locks.
func (a *Analyzer) noteWait(pc uint64) {
	fn, ok := a.p.Table.Func(pc)
	if !ok || a.waitedIn[fn.Entry] {
		return
	}
	if len(a.waitedIn) >= maxAwaited {
		clear(a.waitedIn)
	}
	a.waitedIn[fn.Entry] = true
	maps.DeleteFunc(a.known.locks, func(p place, l *siteLocks) bool {
		return l == noLocks && fn.Entry <= p.pc && p.pc <= fn.End
	})
	for site, l := range a.locksBySite {
		if l == noLocks {
			a.locksBySite[site] = nil // if it is true, it is still in a.known
		}
	}
}

// isAwaited reports whether a frame is in a function that waits
// for locks, or in a method of the same type.
func (a *Analyzer) isAwaited(f *unwind.Frame) bool {
	return len(a.awaited) > 0 && a.awaited[a.ownerOf(f)]
}

// ownerOf returns the name of the type that a frame's function
// is a method of, or of the function itself; "" for functions of
// the runtime and of package sync.
func (a *Analyzer) ownerOf(f *unwind.Frame) string {
	for int(f.Site) >= len(a.ownerBySite) {
		a.ownerBySite = append(a.ownerBySite, nil)
	}
	if a.ownerBySite[f.Site] == nil {
		owner := ""
		if fn, ok := a.p.Table.Func(f.PC); ok && !f.System {
			if name := fn.Name(); !goruntime.IsRuntime(name) && !goruntime.IsSync(name) {
				owner = ownerIn(name)
			}
		}
		a.ownerBySite[f.Site] = &owner
	}
	return *a.ownerBySite[f.Site]
}

// ownerIn returns the type in the name of a method, as
// a.b/c.(*T) in a.b/c.(*T).Write.func1, or the function in the
// name of a closure.
func ownerIn(name string) string {
	from := len(goruntime.Package(name)) + 1
	if from > len(name) {
		return name
	}
	if name[from:] != "" && name[from] == '(' {
		if end := strings.Index(name[from:], ")."); end > 0 {
			return name[:from+end+1]
		}
	}
	if end := strings.IndexByte(name[from:], '.'); end > 0 {
		return name[:from+end]
	}
	return name
}
