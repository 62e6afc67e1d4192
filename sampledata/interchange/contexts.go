package interchange

import (
	"math/rand/v2"
)

// contexts numbers the calling contexts of stacks: a context is a call at a
// place, from another context. It is an open hash table: a profile has tens of
// millions of frames, and each is looked up. Its hash has a random seed: no
// file can be made in which all contexts have one hash.
type contexts struct {
	above []int32 // by context: the one that it is called from; -1 if there is none
	place []int32 // by context
	// 1 + a context, 0 for none; at least half of them are free, and their
	// number is a power of two
	slots []int32
	seed  uint64
	path  []int32 // the contexts of the last stack, outermost first
}

func newContexts() *contexts {
	return &contexts{slots: make([]int32, 1<<10), seed: rand.Uint64()}
}

func (c *contexts) len() int { return len(c.place) }

// of returns the context of a stack, given its innermost frame first; -1 for an
// empty stack. Stacks that follow each other often have the same outer frames.
// of does not look them up again.
func (c *contexts) of(stack []int32) int32 {
	same, n := 0, len(stack)
	for same < len(c.path) && same < n && c.place[c.path[same]] == stack[n-1-same] {
		same++
	}
	c.path = c.path[:same]
	at := int32(-1)
	if same > 0 {
		at = c.path[same-1]
	}
	for i := n - 1 - same; i >= 0; i-- {
		at = c.call(at, stack[i])
		c.path = append(c.path, at)
	}
	return at
}

// call returns the context of a call.
func (c *contexts) call(above, place int32) int32 {
	slot := c.slot(above, place)
	for ; c.slots[slot] != 0; slot = (slot + 1) & (len(c.slots) - 1) {
		if i := c.slots[slot] - 1; c.above[i] == above && c.place[i] == place {
			return i
		}
	}
	c.above, c.place = append(c.above, above), append(c.place, place)
	i := int32(len(c.place))
	c.slots[slot] = i
	if 2*int(i) > len(c.slots) {
		c.grow()
	}
	return i - 1
}

// slot returns where the search for a call begins.
func (c *contexts) slot(above, place int32) int {
	h := (uint64(uint32(above))<<32 | uint64(uint32(place))) ^ c.seed
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return int(h>>32) & (len(c.slots) - 1)
}

func (c *contexts) grow() {
	c.slots = make([]int32, 2*len(c.slots))
	for i := range c.place {
		slot := c.slot(c.above[i], c.place[i])
		for c.slots[slot] != 0 {
			slot = (slot + 1) & (len(c.slots) - 1)
		}
		c.slots[slot] = int32(i) + 1
	}
}
