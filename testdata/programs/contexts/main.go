// Contexts: one function burns CPU in two contexts, three times as much below large as below small.
package main

import "fmt"

var sink uint64

func main() {
	done := make(chan bool)
	go work()
	fmt.Println("ready")
	<-done
}

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
