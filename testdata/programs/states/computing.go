package main

import (
	"runtime"
	"runtime/debug"
)

// contexts: one function burns CPU in two contexts, three times as much below large as below small.
func contexts() { go work() }

var sink uint64

func work() {
	for {
		small()
		large()
	}
}

//go:noinline
func small() { encode(1) }

//go:noinline
func large() { encode(3) }

//go:noinline
func encode(rounds int) {
	x := sink
	for range rounds * 200_000 {
		x = x*6364136223846793005 + 1442695040888963407
		x ^= x >> 17
	}
	sink = x
}

var sinks [4]uint64

// runnable: four goroutines that never stop on one processor, so that one runs and three are runnable.
func runnable() {
	runtime.GOMAXPROCS(1)
	for i := range sinks {
		go spin(&sinks[i])
	}
}

//go:noinline
func spin(sink *uint64) {
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x == 0 {
			*sink = x
		}
	}
}

type node struct {
	next *node
	data [6]int
}

var keep [1 << 12]*node

// collector makes so much garbage that the garbage collector nearly always runs.
func collector() {
	debug.SetGCPercent(1)
	for i := range keep {
		for range 100 {
			keep[i] = &node{next: keep[i]}
		}
	}
	go allocate()
}

func allocate() {
	for i := 0; ; i++ {
		keep[i%len(keep)] = &node{next: keep[i%len(keep)].next}
	}
}
