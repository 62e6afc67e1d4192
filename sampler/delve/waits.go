package delve

import (
	"bytes"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

const (
	maxSudogs = 1 << 16 // sudogs read in one sample
	maxLabels = 256     // labels of one goroutine
	maxText   = 4096    // bytes of a label's key or value
)

// waits copies what is needed to find locks and labels.
func (c *capture) waits() {
	l := c.l
	var regions []region
	searching := false
	for i := range c.goroutines {
		g := &c.goroutines[i]
		if c.reason(g).Awaits == goruntime.AwaitsLock {
			if s := word(g.raw, l.g.waiting); s != 0 {
				regions = append(regions, region{s, l.sudog.size})
			} else {
				searching = true
			}
		}
	}
	c.mem.copy(regions)
	if searching {
		c.semaphores()
	}
	c.labels()
}

// reason returns what a goroutine waits for; without a text if it doesn't wait.
func (c *capture) reason(g *goroutine) goruntime.WaitReason {
	if g.status != goruntime.GWaiting && g.status != goruntime.GCopystack &&
		g.status != goruntime.GLeaked {
		return goruntime.WaitReason{}
	}
	if n := int(g.raw[c.l.g.reason]); n < len(c.l.reasons) {
		return c.l.reasons[n]
	}
	return goruntime.WaitReason{}
}

// lock returns the address of the sync.Mutex or sync.RWMutex that a goroutine
// waits for, computed from the address of the semaphore within it; 0 if it is
// not known.
func (c *capture) lock(g *goroutine, bySemaphore map[uint64]uint64) uint64 {
	sema := bySemaphore[g.addr]
	if s := c.mem.get(word(g.raw, c.l.g.waiting), c.l.sudog.size); s != nil {
		sema = c.element(s)
	}
	return c.reason(g).LockAt(sema)
}

// element returns the address that a sudog waits at. From Go 1.26 on, the
// address may be in the number beside the pointer, so that the garbage
// collector does not see it.
func (c *capture) element(sudog []byte) uint64 {
	if c.l.sudog.elemNumber != absent {
		return word(sudog, c.l.sudog.elemNumber)
	}
	return word(sudog, c.l.sudog.elem)
}

// semaphores copies the waiters of all semaphores: up to Go 1.25, a goroutine
// does not lead to its own sudog. The table holds trees (prev, next) of the
// addresses waited at. Each node of a tree has a list (waitlink) of its
// waiters.
func (c *capture) semaphores() {
	table := c.mem.copyOne(c.l.semtable, c.l.semtableSize)
	level := []uint64{}
	each := len(table) / goruntime.SemaRoots
	for i := range min(len(table), goruntime.SemaRoots) {
		if t := word(table, i*each+goruntime.SemaRootTreap); t != 0 {
			level = append(level, t)
		}
	}
	for n := 0; len(level) > 0 && n < maxSudogs; n += len(level) {
		regions := make([]region, len(level))
		for i, s := range level {
			regions[i] = region{s, c.l.sudog.size}
		}
		c.mem.copy(regions)
		var below []uint64
		for _, s := range level {
			raw := c.mem.get(s, c.l.sudog.size)
			for _, field := range []int{c.l.sudog.prev, c.l.sudog.next, c.l.sudog.waitlink} {
				if a := word(raw, field); a != 0 {
					below = append(below, a)
				}
			}
		}
		level = below
	}
}

// semaphoresByGoroutine returns the semaphore that each goroutine waits at,
// from what semaphores has copied.
func (c *capture) semaphoresByGoroutine() map[uint64]uint64 {
	table := c.mem.get(c.l.semtable, c.l.semtableSize)
	if table == nil {
		return nil
	}
	at := map[uint64]uint64{}
	seen := map[uint64]bool{}
	var walk []uint64
	each := len(table) / goruntime.SemaRoots
	for i := range min(len(table), goruntime.SemaRoots) {
		walk = append(walk, word(table, i*each+goruntime.SemaRootTreap))
	}
	for len(walk) > 0 && len(seen) < maxSudogs {
		s := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		raw := c.mem.get(s, c.l.sudog.size)
		if raw == nil || seen[s] {
			continue
		}
		seen[s] = true
		at[word(raw, c.l.sudog.g)] = c.element(raw)
		walk = append(walk, word(raw, c.l.sudog.prev), word(raw, c.l.sudog.next),
			word(raw, c.l.sudog.waitlink))
	}
	return at
}

// labels copies the label sets that goroutines point to, and their texts.
// Maps, used up to Go 1.23, are left to Delve.
func (c *capture) labels() {
	if c.l.g.labels == absent || c.l.labelsAreMaps {
		return
	}
	var regions []region
	var sets []uint64
	seen := map[uint64]bool{}
	for i := range c.goroutines {
		if a := word(c.goroutines[i].raw, c.l.g.labels); a != 0 && !seen[a] {
			seen[a] = true
			sets = append(sets, a)
			regions = append(regions, region{a, 24})
		}
	}
	if len(sets) == 0 {
		return
	}
	c.mem.copy(regions)
	regions = regions[:0]
	for _, a := range sets {
		if s := c.mem.get(a, 24); word(s, 8) > 0 {
			regions = append(regions, region{word(s, 0), int(min(word(s, 8), maxLabels)) * 32})
		}
	}
	c.mem.copy(regions)
	regions = regions[:0]
	for _, a := range sets {
		list := c.labelList(a)
		for i := 0; i+16 <= len(list); i += 16 {
			if n := word(list, i+8); n > 0 {
				regions = append(regions, region{word(list, i), int(min(n, maxText))})
			}
		}
	}
	c.mem.copy(regions)
}

// labelList returns the copied array of keys and values of a label set.
func (c *capture) labelList(set uint64) []byte {
	s := c.mem.get(set, 24)
	if s == nil || word(s, 8) == 0 {
		return nil
	}
	return c.mem.get(word(s, 0), int(min(word(s, 8), maxLabels))*32)
}

// labelSet decodes a goroutine's labels from the copy.
func (c *capture) labelSet(g *goroutine) []sampledata.Label {
	if c.l.g.labels == absent {
		return nil
	}
	list := c.labelList(word(g.raw, c.l.g.labels))
	var set []sampledata.Label
	for i := 0; i+32 <= len(list); i += 32 {
		set = append(set, sampledata.Label{Key: c.text(list[i:]), Value: c.text(list[i+16:])})
	}
	return set
}

func (c *capture) text(header []byte) string {
	b := c.mem.get(word(header, 0), int(min(word(header, 8), maxText)))
	return string(bytes.ToValidUTF8(b, []byte("?")))
}
