// Deep: a goroutine 300 calls deep, and one 3,000 calls deep.
package main

import (
	"fmt"
	"time"
)

func main() {
	ready := make(chan bool)
	go shallow(ready)
	go abyss(ready)
	<-ready
	<-ready
	fmt.Println("ready")
	time.Sleep(time.Hour) // the runtime ends a program in which every goroutine waits
}

func shallow(ready chan bool) { descend(300, ready) }

func abyss(ready chan bool) { descend(3000, ready) }

//go:noinline
func descend(n int, ready chan bool) int {
	if n == 1 {
		ready <- true
		select {}
	}
	return descend(n-1, ready) + n
}
