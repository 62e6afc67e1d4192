package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Limits on what is found out, in one sample, about waits for
// other things than locks.
const (
	// goroutines that have begun to wait for a channel, that in a
	// select, and others that are late
	maxChannels = 64
	maxLate     = 1 << 14 // those that are left for the next samples
	maxGrouped  = 1024    // goroutines that wait for groups and conditions
	maxUsers    = 4096    // goroutines that may end such waits
	// users of groups and conditions: if there are more, only
	// some samples find out about them
	fewUsers = 256
	// goroutines that are named for one waiter; if there are
	// more, none is named, unless they are likely
	maxEnders   = 8
	maxBuffered = 1024 // goroutines that wait for channels with buffers
	rarely      = 64   // samples between two clean-ups of a list of more than maxUsers
	// stacks that are read again because the code of their
	// functions had not been learned yet
	maxUnknown = 64
)

// enders finds out who may end the waits for channels, groups
// and conditions: goroutines in a function that does with the
// same channel, group or condition what the others wait for.
type enders struct {
	*shared
	// stacks are asked about uses, since some goroutine has
	// waited for such a thing
	active bool
	users  [numThings][]int32 // goroutines that use such things, and some that no longer do
	index  map[syncflow.Action][]int32

	grouped  []int32                      // goroutines that wait for groups and conditions, or did
	buffered []int32                      // goroutines that wait for channels with buffers, or did
	found    map[syncflow.Action]enderSet // who ends these waits, for each thing

	timers timers
	late   []arrival // goroutines whose channels could not be found yet

	// For the current sample.
	arrived []arrival // goroutines that may have begun to wait for another channel
	// how many of these are in no select, and in one
	plain, selects int
	waiting        []int32 // the ones that have
	unnamed        []int32 // those for whom nobody is known to send
	again          int     // number of stacks that are read again
	shares         []share
	set            []sampledata.GoroutineID

	// Reused by findChannels and readShares.
	reading  []*arrival
	keys     []int32
	ranges   []memory.Range
	buf      []byte
	shareBuf []byte
}

// A thing is a kind of object that goroutines use: a channel, or
// a group or condition.
type thing uint8

const (
	aChannel thing = iota
	aGroup         // or a condition, a semaphore, a pool
	aClosed        // a channel that they close
	numThings
)

// thingOf returns what an action is done with.
func thingOf(k syncflow.ActionKind) thing {
	switch k {
	case syncflow.Send, syncflow.Receive:
		return aChannel
	case syncflow.Close:
		return aClosed
	}
	return aGroup
}

// uses are the channels, groups and conditions that a goroutine
// uses, by its stack.
type uses struct {
	list     []syncflow.Action
	complete bool            // nothing more can be learned from the stack
	sample   uint32          // number of the sample in which the stack was seen
	listed   [numThings]bool // it is in enders.users
	grouped  bool            // it is in enders.grouped
	buffered bool            // it is in enders.buffered
}

// has reports whether the goroutine may end waits for a kind of
// thing. Waiting for a group oneself ends no such wait.
func (u *uses) has(kind thing) bool {
	return slices.ContainsFunc(u.list, func(u syncflow.Action) bool {
		return !u.Awaited && thingOf(u.Kind) == kind
	})
}

// awaited returns what others must do to end the wait of a
// goroutine that is in a method Wait. It returns false if the
// goroutine is in none.
func (u *uses) awaited() (syncflow.Action, bool) {
	i := slices.IndexFunc(u.list, func(u syncflow.Action) bool { return u.Awaited })
	if i < 0 {
		return syncflow.Action{}, false
	}
	w := u.list[i]
	w.Awaited = false
	return w, true
}

// begin starts a sample.
func (e *enders) begin() {
	e.arrived, e.plain, e.selects = e.arrived[:0], 0, 0
	e.waiting, e.again = e.waiting[:0], 0
	e.timers.begin()
}

// reset forgets all goroutines.
func (e *enders) reset() {
	e.users, e.grouped, e.buffered = [numThings][]int32{}, e.grouped[:0], e.buffered[:0]
	e.late = e.late[:0]
	clear(e.timers.ends) // another recording has other stacks
}

// wantsStack reports whether one more unchanged stack should be
// read in this sample.
func (e *enders) wantsStack() bool {
	if e.again == maxUnknown {
		return false
	}
	e.again++
	return true
}

// see finds what a goroutine uses.
func (e *enders) see(key int32, st *Stack) {
	u := &e.records[key].uses
	u.list, u.complete = e.code.Actions(u.list, st.Frames, st.Memory, st.Registers)
	var complete bool
	u.list, complete = e.code.Deferred(u.list, st.Deferred, e.release, st.Memory)
	u.complete = u.complete && complete
	u.sample = e.number
	for kind := range numThings {
		if !u.listed[kind] && u.has(kind) {
			u.listed[kind] = true
			e.users[kind] = append(e.users[kind], key)
		}
	}
}

// find reports the goroutines that may end waits for channels,
// groups and conditions.
func (e *enders) find() {
	e.findChannels()
	e.nameToChannels(e.waiting)
	e.mayBuffer(e.waiting)
	if e.isTurn(aChannel) {
		e.findBuffered()
	}
	if e.isTurn(aGroup) {
		e.findGrouped()
	}
}

// isTurn reports whether this sample finds out about a kind of
// thing. If there are many users of it, only some samples do.
func (e *enders) isTurn(kind thing) bool {
	return (e.number-1)%(1+uint32(len(e.users[kind])/fewUsers)) == 0
}

// nameTo calls name for each goroutine that waits for a kind of
// thing, unless too many goroutines use such things.
func (e *enders) nameTo(waiting []int32, kind thing, name func(key int32)) {
	if len(waiting) == 0 {
		return
	}
	if users := e.usersOf(kind); len(users) <= maxUsers {
		e.indexUsers(waiting, users, kind)
		for _, key := range waiting {
			name(key)
		}
	}
}

// usersOf returns the goroutines that use a kind of thing,
// without those that no longer do. It cleans up a long list only
// now and then.
func (e *enders) usersOf(kind thing) []int32 {
	if users := e.users[kind]; len(users) > maxUsers && e.number%rarely != 0 {
		return users
	}
	users := slices.DeleteFunc(e.users[kind], func(key int32) bool {
		u := &e.records[key].uses
		u.listed[kind] = u.has(kind)
		return !u.listed[kind]
	})
	e.users[kind] = users
	return users
}

// indexUsers lists, for each thing that goroutines wait for, the
// users that can end such a wait.
func (e *enders) indexUsers(waiting, users []int32, kind thing) {
	clear(e.index)
	for _, key := range waiting {
		if w, ok := e.awaited(key); ok {
			e.index[endedBy(w, kind)] = nil
		}
	}
	for _, key := range users {
		u := &e.records[key].uses
		if s := e.sample.Sighting(key); !e.current(&s, u.sample) {
			continue
		}
		for _, use := range u.list {
			if found, ok := e.index[use]; ok {
				e.index[use] = append(found, key)
			}
		}
	}
}

// awaited returns what a goroutine waits for others to do.
func (e *enders) awaited(key int32) (syncflow.Action, bool) {
	w := e.records[key].awaited
	return w, w.Object != 0
}

// endedBy returns what ends a wait if it is done with a kind of thing.
func endedBy(w syncflow.Action, kind thing) syncflow.Action {
	if kind == aClosed {
		w.Kind = syncflow.Close
	}
	return w
}

// endersOf returns the goroutines that do what is waited for and
// for which counts is true. If they are as many as must do it,
// they are likely the ones; otherwise they are candidates,
// unless there are too many.
func (e *enders) endersOf(w syncflow.Action, counts func(key int32) bool) (found enderSet) {
	set, counted := e.set[:0], true
	for _, key := range e.index[w] {
		if s := e.sample.Sighting(key); counts(key) && !slices.Contains(set, s.ID) {
			set = append(set, s.ID)
			counted = counted &&
				(w.Kind != syncflow.Send || e.records[key].received.has(s.Wait.Goroutine, w.Object))
		}
	}
	e.set = set
	counted = counted && len(set) <= maxCandidates && uint64(len(set)) == e.shareOf(w).taken()
	if len(set) == 0 || len(set) > maxEnders && !counted {
		return enderSet{}
	}
	slices.Sort(set)
	found = enderSet{e.sample.HolderSet(set), sampledata.Ambiguous}
	if counted {
		found.evidence = sampledata.Likely
	}
	return found
}
