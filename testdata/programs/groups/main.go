// Groups: goroutines wait for others with a sync.WaitGroup or a sync.Cond. There is one for each way in which Go code ends such
// waits. The goroutines that can end a wait have the group or condition in their frames. No wait ever ends. Go 1.21 can build
// it, too.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// work is the work that others wait for; it never ends.
//
//go:noinline
func work() { time.Sleep(1000 * time.Hour) }

//go:noinline
func keep(any) {}

// A job has a group among its fields.
type job struct {
	name string
	wg   sync.WaitGroup
}

// start passes a group to two goroutines that can end the wait, and to one that waits.
func start(wait func(*sync.WaitGroup), do func(*sync.WaitGroup)) {
	wg := new(sync.WaitGroup)
	wg.Add(2)
	go do(wg)
	go do(wg)
	go wait(wg)
}

func main() {
	startCaptured()
	start(waitParameter, parameter)
	start(waitLast, last)
	start(waitClosure, closure)
	start(waitLoop, loop)
	start(waitList, list)
	start(waitHelper, helper)
	startComputing()
	startField()
	startGlobal()
	startGo()
	startBystanders()
	startConds()
	fmt.Println("ready")
	os.Stdout.Sync()
	select {}
}
