// Collector: makes so much garbage that the garbage collector nearly always runs.
package main

import (
	"fmt"
	"runtime/debug"
)

type node struct {
	next *node
	data [6]int
}

var keep [1 << 12]*node

func main() {
	debug.SetGCPercent(1)
	for i := range keep {
		for range 100 {
			keep[i] = &node{next: keep[i]}
		}
	}
	fmt.Println("ready")
	allocate()
}

func allocate() {
	for i := 0; ; i++ {
		keep[i%len(keep)] = &node{next: keep[i%len(keep)].next}
	}
}
