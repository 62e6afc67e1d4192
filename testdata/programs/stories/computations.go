package main

import (
	"math/rand"
	"runtime"
	"runtime/debug"
	"sort"
	"time"
)

const piece = 1 << 20

// cycles allocates more from collection to collection, so that late in each cycle it needs memory that the heap does not have
// yet. In the variant "room", it has allocated all that it needs before, and uses that again and again.
func cycles(variant string) func() {
	debug.SetGCPercent(-1)
	const first, step, n = 40, 30, 4
	room := make([][]byte, first+n*step)
	allocate := func(int) []byte { return make([]byte, piece) }
	if variant == "room" {
		fill(room, allocate, 0)
		kept := append([][]byte(nil), room...)
		allocate = func(i int) []byte { return kept[i] }
	} else {
		fill(room[:first], allocate, 0)
	}
	clear(room)
	runtime.GC()
	return func() {
		for i := 0; i < n; i++ {
			fill(room[:first+i*step], allocate, 6*time.Millisecond)
			clear(room)
			runtime.GC()
		}
	}
}

// fill allocates pieces and uses them.
func fill(pieces [][]byte, allocate func(int) []byte, pause time.Duration) {
	for i := range pieces {
		pieces[i] = allocate(i)
		for k := 0; k < piece; k += 4096 {
			pieces[i][k] = 1
		}
		allocated += piece
		time.Sleep(pause)
	}
}

// periodic sorts sets of elements, which grow from 64 to 4,096 and then begin again, four times; in the variant "even", all have
// 512.
func periodic(variant string) func() {
	random := rand.New(rand.NewSource(1))
	data := make(counting, 4096)
	return func() {
		for period := 0; period < 4; period++ {
			for size := 64; size <= len(data); size *= 2 {
				setSize = int64(size)
				if variant == "even" {
					setSize = 512
				}
				set := data[:setSize]
				for until := sorted + 1_000_000; sorted < until; sorted += setSize {
					for i := range set {
						set[i] = random.Int31()
					}
					sort.Sort(set)
				}
			}
		}
	}
}

// counting counts how many pairs were compared.
type counting []int32

func (c counting) Len() int      { return len(c) }
func (c counting) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

func (c counting) Less(i, j int) bool {
	compared++
	return c[i] < c[j]
}
