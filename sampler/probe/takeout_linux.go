//go:build linux && (amd64 || arm64)

package probe

import (
	"maps"
	"slices"
	"time"
)

const (
	// patience is how long the kernel may take out nothing,
	// although nothing else is to be done. Each repair doubles
	// it: on a busy machine, the kernel's threads may have to
	// wait.
	patience = 250 * time.Millisecond

	// repairs is how often what is left is put in again and taken out.
	repairs = 5

	lookInterval = 5 * time.Millisecond
)

// takeOut takes everything out, and compares the code with the
// file. It returns what is left. If takeOut is not sure, other
// tools may have instruments there.
func (u *uprobes) takeOut(tell func(in int)) (left []uint64, sure bool) {
	u.attaching.Lock()
	u.out = true
	u.attaching.Unlock()
	u.mu.Lock()
	places := slices.Sorted(maps.Keys(u.number))
	u.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.takeOutAll()
	}()
	return u.settle(places, done, tell)
}

// settle waits until nothing is in at the places, and repairs
// what stays in after all else is done.
func (u *uprobes) settle(places []uint64, done <-chan struct{}, tell func(in int)) (left []uint64, sure bool) {
	left, sure = u.ours(u.await(places, done, patience, tell))
	for i := 1; i <= repairs && len(left) > 0; i++ {
		u.repair(left)
		left, sure = u.ours(u.await(left, done, patience<<i, tell))
	}
	return left, sure
}

// takeOutAll takes out one group after the other. A folder
// passes all to the kernel at once.
func (u *uprobes) takeOutAll() {
	if u.folder != nil {
		u.folder.close()
		return
	}
	u.mu.Lock()
	groups := slices.Collect(maps.Values(u.in))
	clear(u.in)
	u.mu.Unlock()
	for _, g := range groups {
		g.takeOut()
	}
}

// await waits until nothing is in at the places, or until
// nothing more comes out.
func (u *uprobes) await(places []uint64, done <-chan struct{}, patience time.Duration,
	tell func(int)) (left []uint64) {
	in, since := len(places)+1, time.Now()
	for {
		finished := closed(done)
		left = u.image.left(places)
		if len(left) < in {
			in, since = len(left), time.Now()
		}
		if finished && (in == 0 || time.Since(since) > patience) {
			return left
		}
		tell(in)
		time.Sleep(lookInterval)
	}
}

// repair puts instruments in again and takes them out: a removal
// that has failed may work then.
func (u *uprobes) repair(left []uint64) {
	insert := insertEvents
	if u.method.linked {
		insert = insertLink
	}
	for _, pc := range left {
		offset, _ := u.program.offset(pc)
		g, err := insert(u.program.PID, u.kernel.program, []uint64{offset})
		if err == nil {
			g.takeOut()
		}
	}
}

// ours returns the places at which no other tool has an
// instrument, as far as is known.
func (u *uprobes) ours(left []uint64) (own []uint64, sure bool) {
	if len(left) == 0 {
		return nil, true
	}
	others := instruments(u.program.PID)
	for _, pc := range u.image.left(left) {
		if offset, _ := u.program.offset(pc); !slices.Contains(others.offsets, offset) {
			own = append(own, pc)
		}
	}
	return own, !others.unsure
}

// inParallel is how many links of a folder the kernel takes out
// in the time of one, at least.
const inParallel = 16

// units returns how many removals follow each other.
func (u *uprobes) units(groups, places int) int {
	switch {
	case u.folder != nil:
		return 1 + places/inParallel
	case u.method.linked:
		return groups
	}
	return places
}

func (u *uprobes) removal(groups, places int) time.Duration {
	return time.Duration(u.units(groups, places)) * u.measured.removal
}
