package calltree

import (
	"math/bits"
	"math/rand/v2"
)

// A Call is a node: a call of Func from the node Parent.
type Call struct {
	Parent int32 // -1: it is the root
	Func   Func
}

// Calls numbers calls, from the root on, which is 0. It has an
// open hash table: a map with calls as its keys took several
// times the memory, and most of the time to make views. The hash
// is seeded at random: no file can be made that has many calls
// of one hash.
type Calls struct {
	List []Call // by number
	// a node, 0 for none; at least a quarter of them are free,
	// and their number is a power of two
	slots []int32
	keys  [2]uint64
}

// NewCalls returns a list that has only the root.
func NewCalls(root Func) *Calls {
	return &Calls{[]Call{{-1, root}}, make([]int32, 16), [2]uint64{rand.Uint64(), rand.Uint64()}}
}

// Number returns the number of a call, which it adds to the list
// if it is new.
func (x *Calls) Number(c Call) int32 {
	slot := x.slot(c)
	for ; x.slots[slot] != 0; slot = x.after(slot) {
		if n := x.slots[slot]; x.List[n] == c {
			return n
		}
	}
	n := int32(len(x.List))
	x.List = append(x.List, c)
	x.slots[slot] = n
	if 4*int(n) > 3*len(x.slots) {
		x.grow()
	}
	return n
}

func (x *Calls) grow() {
	x.slots = make([]int32, 2*len(x.slots))
	for n := 1; n < len(x.List); n++ {
		slot := x.slot(x.List[n])
		for x.slots[slot] != 0 {
			slot = x.after(slot)
		}
		x.slots[slot] = int32(n)
	}
}

// slot returns where the search for a call begins.
func (x *Calls) slot(c Call) int {
	high, low := bits.Mul64(uint64(uint32(c.Parent))^x.keys[0], uint64(uint32(c.Func))^x.keys[1])
	return int(high^low) & (len(x.slots) - 1)
}

// after returns where the search goes on.
func (x *Calls) after(slot int) int { return (slot + 1) & (len(x.slots) - 1) }
