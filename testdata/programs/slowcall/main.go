// Slowcall has a goroutine that holds a lock while it is in a system call that does not end, and another one that waits for
// the lock.
package main

import (
	"fmt"
	"sync"
	"syscall"
)

var mu sync.Mutex

func main() {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	held := make(chan bool)
	go hold(held, ends[0])
	<-held
	fmt.Printf("%p\n", &mu)
	wait()
}

//go:noinline
func hold(held chan<- bool, from int) {
	mu.Lock()
	defer mu.Unlock()
	held <- true
	syscall.Read(from, make([]byte, 1))
}

//go:noinline
func wait() {
	mu.Lock()
	defer mu.Unlock()
}
