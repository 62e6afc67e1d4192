// Groups: goroutines wait for others with a sync.WaitGroup or a sync.Cond, one for each way in which Go code ends such waits,
// and those for whom they wait have what it takes in their frames. None of them ever goes on. Go 1.21 builds it too.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// work is what others wait for.
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

// start gives a group to two goroutines that are waited for, and to one that waits.
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
