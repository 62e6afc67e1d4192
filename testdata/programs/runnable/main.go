// Runnable: four goroutines that never stop on one processor, so that one runs and three are runnable.
package main

import (
	"fmt"
	"runtime"
)

var sinks [4]uint64

func main() {
	runtime.GOMAXPROCS(1)
	for i := range sinks {
		go spin(&sinks[i])
	}
	fmt.Println("ready")
	select {}
}

//go:noinline
func spin(sink *uint64) {
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x == 0 {
			*sink = x
		}
	}
}
