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
	c.waitsAt = map[uint64]uint64{}
	for i := range c.goroutines {
		g := &c.goroutines[i]
		if c.reason(g).Awaits == goruntime.AwaitsLock {
			if s := word(g.raw, l.G.Waiting); s != 0 {
				regions = append(regions, region{s, int(l.Sudog.Size)})
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

// reason returns what a goroutine waits for; without a text if
// it doesn't wait.
func (c *capture) reason(g *goroutine) goruntime.WaitReason {
	if g.status != goruntime.GWaiting && g.status != goruntime.GCopystack &&
		g.status != goruntime.GLeaked {
		return goruntime.WaitReason{}
	}
	return c.l.reasons.At(g.raw[c.l.G.WaitReason])
}

// lock returns the address of the sync.Mutex or sync.RWMutex
// that a goroutine waits for, computed from the address of the
// semaphore within it; 0 if it is not known.
func (c *capture) lock(g *goroutine) uint64 {
	sema := c.waitsAt[g.addr]
	if s := c.mem.get(word(g.raw, c.l.G.Waiting), int(c.l.Sudog.Size)); s != nil {
		sema = c.element(s)
	}
	return c.reason(g).LockAt(sema)
}

// element returns the address that a sudog waits at. From Go
// 1.26 on, the address may be in the number beside the pointer,
// so that the garbage collector does not see it.
func (c *capture) element(sudog []byte) uint64 {
	return word(sudog, c.l.Sudog.ElemAddr.Or(c.l.Sudog.Elem))
}

// semaphores copies the waiters of all semaphores: up to Go
// 1.25, a goroutine does not lead to its own sudog. The table
// holds trees (prev, next) of the addresses waited at. Each node
// of a tree has a list (waitlink) of its waiters.
func (c *capture) semaphores() {
	table := c.mem.copyOne(c.l.semtable, c.l.semtableSize)
	seen := map[uint64]bool{0: true}
	var level []region
	add := func(sudog uint64) {
		if !seen[sudog] && len(seen) < maxSudogs {
			seen[sudog] = true
			level = append(level, region{sudog, int(c.l.Sudog.Size)})
		}
	}
	each := len(table) / goruntime.SemaRoots
	for i := range min(len(table), goruntime.SemaRoots) {
		add(word(table, i*each+goruntime.SemaRootTreap))
	}
	for len(level) > 0 {
		now := level
		level = nil
		c.mem.copy(now)
		for _, s := range now {
			if raw := c.mem.get(s.addr, s.size); raw != nil {
				c.waitsAt[word(raw, c.l.Sudog.G)] = c.element(raw)
				add(word(raw, c.l.Sudog.Prev))
				add(word(raw, c.l.Sudog.Next))
				add(word(raw, c.l.Sudog.WaitLink))
			}
		}
	}
}

// labels copies the label sets that goroutines point to, and
// their texts. Maps, used up to Go 1.23, are not read.
func (c *capture) labels() {
	if !c.l.G.Labels.Has() || c.l.labelsAreMaps {
		return
	}
	var regions []region
	var sets []uint64
	seen := map[uint64]bool{}
	for i := range c.goroutines {
		if a := word(c.goroutines[i].raw, c.l.G.Labels); a != 0 && !seen[a] {
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
	if !c.l.G.Labels.Has() {
		return nil
	}
	list := c.labelList(word(g.raw, c.l.G.Labels))
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
