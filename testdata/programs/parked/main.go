// Parked: as many goroutines as the argument says, parked 25 calls deep.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var ready sync.WaitGroup
	ready.Add(n)
	for range n {
		go worker(&ready)
	}
	ready.Wait()
	fmt.Println("ready")
	time.Sleep(time.Hour) // the runtime ends a program in which every goroutine waits
}

func worker(ready *sync.WaitGroup) { park(25, ready) }

//go:noinline
func park(n int, ready *sync.WaitGroup) int {
	if n == 1 {
		ready.Done()
		select {}
	}
	return park(n-1, ready) + n
}
