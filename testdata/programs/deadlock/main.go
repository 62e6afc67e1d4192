// Deadlock: two goroutines, left and right, lock two accounts in different orders, and wait for one another forever. The rest
// of the program sleeps. With a number as an argument, there are as many such pairs. With the argument "itself", goroutines lock
// what they have locked, see itself.go. With "turns" and "lenders", the program is healthy: readers and writers take turns, see
// turns.go, and helpers release what their callers hold, see lenders.go.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

type account struct {
	balance int
	mu      sync.Mutex
}

var others = map[string]func(){"turns": takeTurns, "itself": lockAgain, "lenders": lend}

func main() {
	pairs := 1
	if len(os.Args) > 1 {
		if begin := others[os.Args[1]]; begin != nil {
			begin()
		}
		pairs, _ = strconv.Atoi(os.Args[1]) // 0 for another program
	}
	for range pairs {
		var both sync.WaitGroup
		both.Add(2)
		var first, second account
		go left(&first, &second, &both)
		go right(&first, &second, &both)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func left(first, second *account, both *sync.WaitGroup) {
	first.mu.Lock()
	defer first.mu.Unlock()
	meet(both)
	second.mu.Lock()
	defer second.mu.Unlock()
	second.balance++
}

func right(first, second *account, both *sync.WaitGroup) {
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
