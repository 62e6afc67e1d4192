// Renamed: goroutines of one class contend for a lock and one of another computes. A test changes the long names in the
// executable into names that no compiler would accept. With two arguments, the program ends after a second.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
	"time"
)

type aTypeWhoseNameIsLongEnoughToBeReplacedByAnotherOne struct {
	aFieldWhoseNameIsLongEnoughToBeReplacedByAnotherOne sync.Mutex
}

var aVariableWhoseNameIsLongEnoughToBeReplacedByAnotherOne aTypeWhoseNameIsLongEnoughToBeReplacedByAnotherOne

func main() {
	labels := pprof.Labels("key aLabelWhoseTextIsLongEnoughToBeReplacedByAnotherOne", "value aLabelWhoseTextIsLongEnoughToBeReplacedByAnotherOne")
	for range 3 {
		go pprof.Do(context.Background(), labels, func(context.Context) { aWaiterWhoseNameIsLongEnoughToBeReplacedByAnotherOne() })
		go aWaiterWhoseNameIsLongEnoughToBeReplacedByAnotherOne()
	}
	go aRunnerWhoseNameIsLongEnoughToBeReplacedByAnotherOne()
	fmt.Println("ready")
	if len(os.Args) > 2 {
		time.Sleep(time.Second)
		return
	}
	select {}
}

//go:noinline
func aWaiterWhoseNameIsLongEnoughToBeReplacedByAnotherOne() {
	lock := &aVariableWhoseNameIsLongEnoughToBeReplacedByAnotherOne.aFieldWhoseNameIsLongEnoughToBeReplacedByAnotherOne
	for {
		lock.Lock()
		time.Sleep(time.Millisecond)
		lock.Unlock()
	}
}

//go:noinline
func aRunnerWhoseNameIsLongEnoughToBeReplacedByAnotherOne() {
	for began := time.Now(); ; {
		if time.Since(began) < 0 {
			return
		}
	}
}
