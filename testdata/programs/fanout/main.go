// Command fanout answers requests, of two kinds: search has three workers, of which each has a helper, and waits for
// them; ping has none.
package main

import (
	"fmt"
	"sync"
	"time"
)

func main() {
	for range 4 {
		go serve(search)
		go serve(ping)
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

// serve is a connection with one request after the other, each in a goroutine.
//
//go:noinline
func serve(handle func()) {
	for {
		var done sync.WaitGroup
		done.Add(1)
		go request(handle, &done)
		done.Wait()
		time.Sleep(10 * time.Millisecond)
	}
}

//go:noinline
func request(handle func(), done *sync.WaitGroup) {
	defer done.Done()
	handle()
}

//go:noinline
func search() { fan(3) }

//go:noinline
func fan(workers int) {
	var done sync.WaitGroup
	for range workers {
		done.Add(1)
		go work(&done)
	}
	done.Wait()
}

//go:noinline
func work(done *sync.WaitGroup) {
	defer done.Done()
	answer := make(chan bool)
	go help(answer)
	<-answer
}

//go:noinline
func help(answer chan<- bool) {
	time.Sleep(100 * time.Millisecond)
	answer <- true
}

//go:noinline
func ping() { time.Sleep(100 * time.Millisecond) }
