// Stuck has goroutines that can never run again: what they wait for is out of everybody's reach.
// There is one function for each way to get there. With an argument, only the function of that name
// runs. A second one is how many megabytes of pointers a variable keeps, and a
// third one how long the program runs. Go 1.21 can build it, too.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// A box has what goroutines wait for.
type box struct {
	name string
	n    int
	a, b sync.Mutex
	rw   sync.RWMutex
	done chan struct{}
}

// send sends to a channel that the receiver has left.
//
//go:noinline
func send(c chan int) { c <- 1 }

//go:noinline
func abandoned() {
	for i := 0; i < 12; i++ {
		go send(make(chan int))
	}
}

// receiver receives from a channel that nobody sends to.
//
//go:noinline
func receiver(x *box) { <-x.done }

//go:noinline
func forgotten() { go receiver(&box{done: make(chan struct{})}) }

//go:noinline
func undecided() {
	a, b := make(chan int), make(chan string)
	go func() {
		select {
		case <-a:
		case b <- "":
		}
	}()
}

// first and second take two locks in different orders.
//
//go:noinline
func (x *box) first() {
	x.a.Lock()
	defer x.a.Unlock()
	time.Sleep(20 * time.Millisecond)
	x.b.Lock()
	x.n++
	x.b.Unlock()
}

//go:noinline
func (x *box) second() {
	x.b.Lock()
	defer x.b.Unlock()
	time.Sleep(20 * time.Millisecond)
	x.a.Lock()
	x.n++
	x.a.Unlock()
}

//go:noinline
func circle() {
	x := &box{name: "circle"}
	go x.first()
	go x.second()
}

// outer calls inner with a lock that inner takes, too.
//
//go:noinline
func (x *box) outer() {
	x.a.Lock()
	defer x.a.Unlock()
	x.inner()
}

//go:noinline
func (x *box) inner() {
	x.a.Lock()
	x.n++
	x.a.Unlock()
}

//go:noinline
func itself() { go (&box{name: "itself"}).outer() }

// keep takes a lock and returns without giving it back.
//
//go:noinline
func (x *box) keep() { x.a.Lock() }

//go:noinline
func (x *box) late() {
	x.a.Lock()
	x.n++
	x.a.Unlock()
}

//go:noinline
func holderGone() {
	x := &box{name: "gone", done: make(chan struct{})}
	go func() {
		x.keep()
		close(x.done)
	}()
	<-x.done
	go x.late()
}

//go:noinline
func waiter(g *sync.WaitGroup) { g.Wait() }

//go:noinline
func group() {
	g := new(sync.WaitGroup)
	g.Add(1)
	go waiter(g)
}

//go:noinline
func condition() {
	go func() {
		c := sync.NewCond(new(sync.Mutex))
		c.L.Lock()
		c.Wait()
	}()
}

//go:noinline
func nilChannel() {
	go func() {
		var c chan int
		<-c
	}()
}

// reader takes a read lock again, behind a writer that waits for the first one.
//
//go:noinline
func (x *box) reader() {
	x.rw.RLock()
	defer x.rw.RUnlock()
	time.Sleep(30 * time.Millisecond)
	x.rw.RLock()
	x.n++
	x.rw.RUnlock()
}

//go:noinline
func (x *box) writer() {
	time.Sleep(10 * time.Millisecond)
	x.rw.Lock()
	x.n++
	x.rw.Unlock()
}

//go:noinline
func recursive() {
	x := &box{name: "recursive"}
	go x.reader()
	go x.writer()
}

// produce would close a channel that others wait for, but is stuck itself.
//
//go:noinline
func produce(never chan int, ready chan struct{}, big []byte) {
	<-never
	big[0]++
	close(ready)
}

//go:noinline
func consume(ready chan struct{}) { <-ready }

//go:noinline
func tree() {
	ready := make(chan struct{})
	go produce(make(chan int), ready, make([]byte, 1<<20))
	for i := 0; i < 5; i++ {
		go consume(ready)
	}
}

// A node is one of many.
type node struct {
	next *node
	rest [7]*node
}

var nodes *node

func fill(megabytes string) {
	n, _ := strconv.Atoi(megabytes)
	for i := 0; i < n<<20/64; i++ {
		nodes = &node{next: nodes, rest: [7]*node{nodes}}
	}
}

// wipe overwrites what is left on the stack.
//
//go:noinline
func wipe(n int) int {
	var a [200]int
	if n == 0 {
		return 0
	}
	return wipe(n-1) + a[n]
}

// A pool runs tasks, if anybody does.
type pool struct {
	size           int
	tasks, workers chan func()
}

// run waits for a task. What waits for it is where the field workers would be
// if the closure were a pool.
//
//go:noinline
func (p *pool) run(task func()) {
	done := make(chan struct{})
	p.tasks <- func() {
		task()
		close(done)
	}
	<-done
}

func unserved() {
	p := &pool{tasks: make(chan func(), 1), workers: make(chan func())}
	go p.run(func() {})
}

func main() {
	if len(os.Args) > 2 {
		fill(os.Args[2])
	}
	for name, f := range map[string]func(){
		"abandoned": abandoned, "forgotten": forgotten, "undecided": undecided, "circle": circle, "itself": itself,
		"holderGone": holderGone, "group": group, "condition": condition, "nilChannel": nilChannel,
		"recursive": recursive, "tree": tree, "unserved": unserved,
	} {
		if len(os.Args) < 2 || os.Args[1] == name {
			f()
		}
	}
	time.Sleep(100 * time.Millisecond)
	wipe(100)
	fmt.Println("ready")
	life := time.Hour
	if len(os.Args) > 3 {
		life, _ = time.ParseDuration(os.Args[3])
	}
	time.Sleep(life)
}
