// Delve repeatedly halts a process like a debugger, reads all
// goroutines and their stacks, and prints how long each halt
// took, in microseconds. Its arguments are the process and the
// number of halts, or -pause, the time between two, and the
// process.
package main

import (
	"flag"
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
	pause := flag.Duration("pause", 10*time.Millisecond, "time between two halts")
	flag.Parse()
	pid, err := strconv.Atoi(flag.Arg(0))
	if err != nil {
		return err
	}
	halts := 1 << 30
	if flag.NArg() > 1 {
		if halts, err = strconv.Atoi(flag.Arg(1)); err != nil {
			return err
		}
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
			time.Sleep(*pause)
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
