// Delve repeatedly halts a process like a debugger, reads all goroutines and their stacks, and prints how long each halt
// took, in microseconds.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	pid, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	halts, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	group, err := native.Attach(pid, nil, nil)
	if err != nil {
		return err
	}
	defer group.Detach(false)
	for range halts {
		resumed := make(chan struct{})
		group.ResumeNotify(resumed)
		halted := make(chan time.Time, 1)
		go func() {
			<-resumed
			time.Sleep(10 * time.Millisecond)
			halted <- time.Now()
			group.RequestManualStop()
		}()
		if err := group.Continue(); err != nil {
			return err
		}
		if err := look(group.Selected); err != nil {
			return err
		}
		fmt.Println(time.Since(<-halted).Microseconds())
	}
	return nil
}

func look(t *proc.Target) error {
	gs, _, err := proc.GoroutinesInfo(t, 0, 0)
	if err != nil {
		return err
	}
	for _, g := range gs {
		proc.GoroutineStacktrace(t, g, 100, 0) // a stack that Delve can't unwind costs time, too
	}
	return nil
}
