//go:build linux

// Torture records programs in circumstances that are dangerous
// for them. It prints how often it tried each, how many programs
// were harmed, and what they lost. Ctrl-C ends it early.
//
//	go run ./internal/bench/torture -d 8h
//	go run ./internal/bench/torture -only suspend -times 10000
//
// A program is harmed if it ends, if a thread of it stays
// stopped or traced, if a probe stays in its code, or if it is
// slower afterwards than one that nobody recorded. Torture ends
// with status 1 if a program was harmed or lost anything, or if
// a recording can't be read; and with status 2 if it fails.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

var (
	long  = flag.Duration("d", time.Minute, "how long to go on")
	times = flag.Int("times", 0, "go on until so many kills, suspensions and so on, whatever -d says")
	only  = flag.String("only", "", "try only what begins with this, such as suspend")
	lanes = flag.Int("lanes", 2, "how many programs to record at the same time")

	patience = flag.Duration("patience", time.Minute, "for how long a busy or emulated machine may keep something from happening")
)

func main() {
	flag.Parse()
	tool.Main("torture", run)
}

func run() (good bool, err error) {
	chosen := choose(*only)
	if len(chosen) == 0 {
		return false, fmt.Errorf("nothing to try begins with %q", *only)
	}
	dir, err := tool.Build("cmd/cpprof", "testdata/programs/victim")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, cpprof: filepath.Join(dir, "cpprof"), victim: filepath.Join(dir, "victim")}
	ctx, cancel := interruptible()
	defer cancel()
	t := newTable(chosen)
	more := func(tried int) bool {
		switch {
		case ctx.Err() != nil:
			return false
		case *times > 0:
			return t.times() < *times
		}
		return time.Since(t.begin) < *long || tried < len(chosen) // each once, however busy the machine is
	}
	var wait sync.WaitGroup
	var next atomic.Int64
	for range *lanes {
		wait.Go(func() {
			for i := int(next.Add(1) - 1); more(i); i = int(next.Add(1) - 1) {
				h := chosen[i%len(chosen)]
				t.add(h.name, b.try(h))
			}
		})
	}
	quiet := make(chan struct{})
	go t.progress(os.Stderr, quiet)
	wait.Wait()
	close(quiet)
	return t.print(os.Stdout), nil
}

// interruptible returns a context that is done when somebody ends the torture.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		ignored := signal.Ignored(s) // as it is in the background and under nohup
		c := make(chan os.Signal, 1)
		signal.Notify(c, s) // or cpprof would ignore it, too
		go func() {
			for range c {
				if !ignored {
					cancel()
				}
			}
		}()
	}
	return ctx, cancel
}

// choose returns the hardships whose names begin with a text.
func choose(text string) (chosen []*hardship) {
	for i := range hardships {
		if strings.HasPrefix(hardships[i].name, text) {
			chosen = append(chosen, &hardships[i])
		}
	}
	return chosen
}
