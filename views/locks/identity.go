package locks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// identities finds the lock that a run waits for. Locks are
// numbered and named over the whole recording: a lock has the
// same name in all its spans.
type identities struct {
	r     *sampledata.Recording
	names map[uint64][]sampledata.LockName // by address, in order of their first sample
	index map[identity]int
	locks []*Lock // instances
	by    By
	// what is analysed: the instances or, by field, the locks of each name
	all   []*Lock
	group []int // by instance: its index in all
	// by lock without a name: waiters' hits by the function that
	// takes the lock
	takes []map[sampledata.FunctionID]int64
	// by node: the function that takes a lock there; or notYet,
	// or noFunction
	taker []sampledata.FunctionID
}

// An identity identifies a lock. An address that has had two
// names is two locks. Locks at unknown addresses have different
// identities if different functions take them.
type identity struct {
	address uint64
	name    string
	taker   sampledata.FunctionID
}

const (
	noFunction sampledata.FunctionID = -1
	notYet     sampledata.FunctionID = -2
)

func newIdentities(r *sampledata.Recording, by By) *identities {
	ids := &identities{r: r, by: by, names: make(map[uint64][]sampledata.LockName),
		index: make(map[identity]int)}
	for _, n := range r.LockNames {
		ids.names[n.Address] = append(ids.names[n.Address], n)
	}
	ids.taker = slices.Repeat([]sampledata.FunctionID{notYet}, len(r.Nodes))
	for _, run := range r.Runs.All() {
		if views.DoingOf(run) == views.AwaitingLock {
			ids.enter(run)
		}
	}
	ids.name()
	ids.gather()
	return ids
}

// Namer returns a function that returns the name of the lock
// that a Blocked run waits for: the String of the Lock in an
// analysis.
func Namer(r *sampledata.Recording, by By) func(sampledata.Run) string {
	return newIdentities(r, by).label
}

func (ids *identities) label(run sampledata.Run) string { return ids.all[ids.lock(run)].label }

// gather lists what is analysed.
func (ids *identities) gather() {
	byName := make(map[string]int)
	for i, l := range ids.locks {
		k, ok := byName[l.Name]
		if !ok || ids.by == ByInstance {
			k = len(ids.all)
			byName[l.Name] = k
			if ids.by == ByField {
				l = &Lock{Name: l.Name, Guessed: l.Guessed, Instances: l.Instances, label: l.Name}
			}
			ids.all = append(ids.all, l)
		}
		ids.group = append(ids.group, k)
		all := ids.all[k]
		if all.Kind = max(all.Kind, ids.locks[i].Kind); all.Instances == 1 {
			all.Instance, all.Address = 1, ids.locks[i].Address
		}
	}
}

// of returns the identity of a run's lock. If the lock was named
// only later, it has the same identity before.
func (ids *identities) of(run sampledata.Run) identity {
	if run.Lock == 0 {
		return identity{taker: ids.takerAt(run.Stack)}
	}
	id := identity{address: run.Lock, taker: noFunction}
	if names := ids.names[run.Lock]; len(names) > 0 {
		i, found := slices.BinarySearchFunc(names, run.First,
			func(n sampledata.LockName, s int32) int { return cmp.Compare(n.First, s) })
		if !found {
			i = max(0, i-1)
		}
		id.name = names[i].Name
	}
	return id
}

// instance returns the number of the instance that a Blocked run
// waits for.
func (ids *identities) instance(run sampledata.Run) int { return ids.index[ids.of(run)] }

// lock returns the number, in all, of the lock that a Blocked
// run waits for.
func (ids *identities) lock(run sampledata.Run) int { return ids.group[ids.instance(run)] }

func (ids *identities) enter(run sampledata.Run) {
	id := ids.of(run)
	i, ok := ids.index[id]
	if !ok {
		i = len(ids.locks)
		ids.index[id] = i
		ids.locks = append(ids.locks,
			&Lock{Name: id.name, Guessed: id.name == "", Address: id.address})
		ids.takes = append(ids.takes, make(map[sampledata.FunctionID]int64))
	}
	l := ids.locks[i]
	l.Kind = max(l.Kind, views.LockType(run.Reason))
	if l.Guessed {
		ids.takes[i][ids.takerAt(run.Stack)] += int64(run.Last-run.First) + 1
	}
}

// name names the locks that have no name in the recording, and
// numbers the locks of one name.
func (ids *identities) name() {
	byName := make(map[string][]*Lock)
	for i, l := range ids.locks {
		if l.Guessed {
			l.Name = ids.guess(i)
		}
		if calltree.KindOf(l.Name) != calltree.Function { // the name is a frame of Held
			l.Name = "?" + l.Name
		}
		byName[l.Name] = append(byName[l.Name], l)
	}
	for _, same := range byName {
		for i, l := range same {
			l.Instance, l.Instances, l.label = i+1, len(same), l.Name
			if len(same) > 1 {
				l.label = fmt.Sprint(l.Name, ofInstance, i+1)
			}
		}
	}
	ids.takes = nil
}

// ofInstance is between the name of a lock and its number.
const ofInstance = " of instance "

// FieldOf returns the name of a lock without the number that its
// String may have.
func FieldOf(lock string) string {
	name, _, _ := strings.Cut(lock, ofInstance)
	return name
}

// guess names a lock after the function in which most of its
// waiters take it.
func (ids *identities) guess(lock int) string {
	var best string
	var most int64
	for f, hits := range ids.takes[lock] {
		if name := ids.function(f); name != "" && (hits > most || hits == most && name < best) {
			best, most = name, hits
		}
	}
	if best == "" {
		return "unknown lock"
	}
	return "a lock taken in " + best
}

func (ids *identities) function(f sampledata.FunctionID) string {
	if f == noFunction {
		return ""
	}
	return ids.r.Functions[f].Name
}

// takerAt returns the function that takes a lock at a stack: the
// innermost one outside of package sync and the runtime.
func (ids *identities) takerAt(stack sampledata.NodeID) sampledata.FunctionID {
	at, f := stack, noFunction
	for ; at != sampledata.NoStack; at = ids.r.Nodes[at].Parent {
		if ids.taker[at] != notYet {
			f = ids.taker[at]
			break
		}
		if own := ids.r.Nodes[at].Function; !TakesForCallers(ids.r.Functions[own].Name) {
			f = own
			break
		}
	}
	for ; stack != at; stack = ids.r.Nodes[stack].Parent {
		ids.taker[stack] = f
	}
	return f
}

// TakesForCallers reports whether the function of the given name
// takes locks for its callers, as methods Lock and RLock do.
func TakesForCallers(function string) bool {
	return strings.HasSuffix(function, ").Lock") || strings.HasSuffix(function, ").RLock") ||
		words.HasPrefix(function, "sync.", "internal/sync.", "runtime.", "internal/runtime/",
			"internal/poll.runtime_", "time.Sleep")
}
