package calltree

import (
	"math/bits"
	"math/rand/v2"
)

// A call is a node of a Builder: a call of fn from the node parent.
type call struct {
	parent int32
	fn     Func
}

// A childIndex finds the nodes of calls: it is an open hash table. A map with
// calls as its keys took several times the memory, and most of the time to make
// views. The hash is seeded at random: no file can be made that has many calls
// of one hash.
type childIndex struct {
	// a node, 0 for none; at least a quarter of them are free, and their number
	// is a power of two
	slots []int32
	keys  [2]uint64
}

func newChildIndex() childIndex {
	return childIndex{make([]int32, 16), [2]uint64{rand.Uint64(), rand.Uint64()}}
}

// child returns the node of a call. If there is none, it adds the call to the
// list.
func (x *childIndex) child(calls *[]call, c call) int32 {
	slot := x.slot(c)
	for ; x.slots[slot] != 0; slot = x.after(slot) {
		if n := x.slots[slot]; (*calls)[n] == c {
			return n
		}
	}
	n := int32(len(*calls))
	*calls = append(*calls, c)
	x.slots[slot] = n
	if 4*int(n) > 3*len(x.slots) {
		x.grow(*calls)
	}
	return n
}

func (x *childIndex) grow(calls []call) {
	x.slots = make([]int32, 2*len(x.slots))
	for n := 1; n < len(calls); n++ {
		slot := x.slot(calls[n])
		for x.slots[slot] != 0 {
			slot = x.after(slot)
		}
		x.slots[slot] = int32(n)
	}
}

// slot returns where the search for a call begins.
func (x *childIndex) slot(c call) int {
	high, low := bits.Mul64(uint64(uint32(c.parent))^x.keys[0], uint64(uint32(c.fn))^x.keys[1])
	return int(high^low) & (len(x.slots) - 1)
}

// after returns where the search goes on.
func (x *childIndex) after(slot int) int { return (slot + 1) & (len(x.slots) - 1) }
