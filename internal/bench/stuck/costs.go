//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampler/heap"
)

// measured is how long requests are measured, without and with examinations.
const measured = 20 * time.Second

// costHeaps are the sizes of the heaps whose marking is measured, in MB.
var costHeaps = []int{10, 100, 1000}

// measureCosts prints what an examination costs a server with a
// large heap, in which something is stuck.
func (b *bench) measureCosts() error {
	path := filepath.Join(b.dir, "twins")
	if err := b.build(".", path, "./testdata/programs/twins", b.stripped); err != nil {
		return err
	}
	fmt.Print("| heap | a pass | halted | the proof | halted | 99 % of requests within | without |\n|---|---|---|---|---|---|---|\n")
	for _, size := range costHeaps {
		if err := costs(path, size); err != nil {
			return fmt.Errorf("a heap of %d MB: %w", size, err)
		}
	}
	return nil
}

// costs measures one heap: requests without an examination, with passes,
// and with passes and halts.
func costs(path string, size int) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.Close() // the server takes the port
	t, err := start(exec.Command(path, "large", strconv.Itoa(size), l.Addr().String()))
	if err != nil {
		return err
	}
	defer t.End()
	c := &clients{url: "http://" + l.Addr().String()}
	c.start()
	defer c.stop()
	time.Sleep(measured)
	alone := c.quantile()
	var passes, halts, took, proof []time.Duration
	for begin := time.Now(); time.Since(begin) < measured; time.Sleep(time.Second) {
		r, _, err := examine(t.Process.Pid, heap.Config{MaxHalt: 2 * time.Second, MaxMemory: 4 << 30}, 2, 0)
		if err != nil {
			return err
		}
		for _, p := range r.Passes {
			if p.Halted {
				proof, took = append(proof, p.Halt), append(took, p.Took)
			} else {
				halts, passes = append(halts, p.Halt), append(passes, p.Took)
			}
		}
		if !r.Proved {
			return fmt.Errorf("it is not proved: %v", r.Limit)
		}
	}
	fmt.Printf("| %d MB | %v | %v | %v | %v | %v | %v |\n",
		size, median(passes), median(halts), median(took), median(proof), c.quantile(), alone)
	return nil
}

// median returns the median, rounded.
func median(all []time.Duration) time.Duration {
	return tool.Median(all).Round(10 * time.Microsecond)
}

// clients send requests to a server, each at fixed times: a late
// answer delays no other request.
type clients struct {
	url   string
	mu    sync.Mutex
	took  []time.Duration
	ended chan bool
	all   sync.WaitGroup
}

// requestPause is the time between two requests.
const requestPause = 5 * time.Millisecond

func (c *clients) start() {
	c.ended = make(chan bool)
	c.all.Go(func() {
		ticks := time.NewTicker(requestPause)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				c.all.Go(c.request)
			case <-c.ended:
				return
			}
		}
	})
}

func (c *clients) request() {
	begin := time.Now()
	answer, err := http.Get(c.url)
	if err != nil {
		return
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	c.mu.Lock()
	c.took = append(c.took, time.Since(begin))
	c.mu.Unlock()
}

// quantile returns the time within which 99 % of the requests
// since the last call were answered.
func (c *clients) quantile() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.took)
	q := c.took[len(c.took)*99/100].Round(10 * time.Microsecond)
	c.took = nil
	return q
}

func (c *clients) stop() {
	close(c.ended)
	c.all.Wait()
}
