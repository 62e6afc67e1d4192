package delve

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
)

const maxSudogs = 1 << 16 // sudogs read in one sample

// waits copies what is needed to find locks.
func (c *capture) waits() {
	l, mem := c.l, c.mem.copier()
	var gs, sudogs []uint64
	searching := false
	for i := range c.goroutines {
		g := &c.goroutines[i]
		if c.reason(g).Awaits != goruntime.AwaitsLock {
			continue
		}
		if s := word(g.raw, l.G.Waiting); s != 0 {
			gs, sudogs = append(gs, g.addr), append(sudogs, s)
		} else {
			searching = true
		}
	}
	c.waitsAt = map[uint64]uint64{}
	if searching {
		waiters, _ := mem.Semaphores(mem.Get(l.semtable, l.semtableSize), &l.Sudog, maxSudogs)
		for g, w := range waiters {
			c.waitsAt[g] = w.Semaphore
		}
	}
	for i, b := range mem.Structs(sudogs, int(l.Sudog.Size)) {
		if b != nil {
			c.waitsAt[gs[i]] = gostate.SemaphoreOf(b, &l.Sudog)
		}
	}
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
func (c *capture) lock(g *goroutine) uint64 { return c.reason(g).LockAt(c.waitsAt[g.addr]) }

// labels are a goroutine's pprof labels, and where they are.
type labels struct {
	at  uint64 // 0 if a part could not be read
	set []sampledata.Label
}

// readLabels reads the labels of goroutines that have got others
// since the previous sample: a label set does not change.
func (c *capture) readLabels() {
	before := c.labels
	c.labels = map[int64]labels{}
	for i := range c.goroutines {
		g := &c.goroutines[i]
		at := word(g.raw, c.l.G.Labels)
		if at == 0 {
			continue
		}
		now := before[g.id(c.l)]
		if now.at != at {
			set, whole := gostate.Labels(c.mem.read, at, !c.l.labelsAreMaps)
			if now = (labels{at, set}); !whole {
				now.at = 0
			}
		}
		c.labels[g.id(c.l)] = now
	}
}
