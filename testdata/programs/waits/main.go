// Waits: one goroutine for each way to wait. Its function is named after that. No wait ever ends.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	never, full := make(chan int), make(chan int, 1)
	full <- 1
	var group sync.WaitGroup
	group.Add(1)
	var mu sync.Mutex
	cond := sync.NewCond(&mu)

	go receiver(never)
	go sender(full)
	go selector(never, make(chan int))
	go nilReceiver(nil)
	go acceptor(listener)
	go reader(pipe[0])
	go sleeper()
	go grouped(&group)
	go conditional(cond)
	go inlining(never)

	fmt.Println("ready")
	select {}
}

func receiver(c chan int)       { <-c }
func nilReceiver(c chan int)    { <-c }
func sender(c chan int)         { c <- 2 }
func acceptor(l net.Listener)   { l.Accept() }
func sleeper()                  { time.Sleep(1000 * time.Hour) }
func grouped(g *sync.WaitGroup) { g.Wait() }

func selector(c, d chan int) {
	select {
	case <-c:
	case d <- 1:
	}
}

func reader(fd int) {
	var buf [1]byte
	syscall.Read(fd, buf[:])
}

func conditional(c *sync.Cond) {
	c.L.Lock()
	for {
		c.Wait()
	}
}

// inlining calls a function that calls another one, which waits. The compiler inlines both.
func inlining(c chan int) { outer(c) }

func outer(c chan int) { inner(c) }

func inner(c chan int) { <-c }
