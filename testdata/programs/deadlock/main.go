// Deadlock: two goroutines, left and right, lock two accounts in different orders, and wait for one another forever. The rest
// of the program sleeps.
package main

import (
	"fmt"
	"sync"
	"time"
)

type account struct {
	balance int
	mu      sync.Mutex
}

var first, second account

func main() {
	var both sync.WaitGroup
	both.Add(2)
	go left(&both)
	go right(&both)
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func left(both *sync.WaitGroup) {
	first.mu.Lock()
	defer first.mu.Unlock()
	meet(both)
	second.mu.Lock()
	defer second.mu.Unlock()
	second.balance++
}

func right(both *sync.WaitGroup) {
	second.mu.Lock()
	defer second.mu.Unlock()
	meet(both)
	first.mu.Lock()
	defer first.mu.Unlock()
	first.balance++
}

// meet returns when both goroutines have called it.
func meet(both *sync.WaitGroup) {
	both.Done()
	both.Wait()
}
