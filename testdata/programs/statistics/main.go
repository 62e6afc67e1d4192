// Statistics allocates memory and lets the collector run, prints what the runtime reports about that, by the names that
// cpprof's monitors have, as JSON, and waits. At each SIGUSR1 it starts twenty goroutines that compute for ever, and prints
// the number of threads.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"syscall"
)

type node struct {
	next *node
	data [40]byte
}

var (
	kept  []*node
	large [][]byte
	sum   [64]int
)

// allocate creates garbage and some objects that stay, of all sizes.
func allocate(keep *[]*node) {
	var list *node
	for i := 0; i < 200_000; i++ {
		list = &node{next: list}
		if i%100 == 0 {
			list = nil
		}
		if i%1000 == 0 {
			*keep = append(*keep, &node{})
			b := make([]byte, 10+i%50_000)
			b[0] = 1
		}
	}
}

func seconds(name string) float64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return 1e9 * s[0].Value.Float64()
}

func threads() int { return pprof.Lookup("threadcreate").Count() }

func report() map[string]float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return map[string]float64{
		"heap.live":              float64(m.HeapAlloc),
		"heap.in_use":            float64(m.HeapInuse),
		"heap.free":              float64(m.HeapIdle - m.HeapReleased),
		"heap.released":          float64(m.HeapReleased),
		"heap.allocated_bytes":   float64(m.TotalAlloc),
		"heap.freed_bytes":       float64(m.TotalAlloc - m.HeapAlloc),
		"heap.allocated_objects": float64(m.Mallocs),
		"heap.freed_objects":     float64(m.Frees),
		"stacks.in_use":          float64(m.StackInuse),
		"gc.cycles":              float64(m.NumGC),
		"gc.pause":               float64(m.PauseTotalNs),
		"gc.assist":              seconds("/cpu/classes/gc/mark/assist:cpu-seconds"),
		"gc.workers":             seconds("/cpu/classes/gc/mark/dedicated:cpu-seconds"),
		"gc.idle_workers":        seconds("/cpu/classes/gc/mark/idle:cpu-seconds"),
		"sched.processors":       float64(runtime.GOMAXPROCS(0)),
		"sched.threads":          float64(threads()),
	}
}

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	var wg sync.WaitGroup
	keep := make([][]*node, 4)
	for i := range keep {
		wg.Add(1)
		go func(k *[]*node) {
			defer wg.Done()
			allocate(k)
		}(&keep[i])
	}
	wg.Wait()
	for _, k := range keep {
		kept = append(kept, k...)
	}
	large = append(large, make([]byte, 5<<20))
	runtime.GC()
	if err := json.NewEncoder(os.Stdout).Encode(report()); err != nil {
		panic(err)
	}
	for range c {
		for i := 0; i < 20; i++ {
			go func(n *int) {
				for {
					*n++
				}
			}(&sum[i%len(sum)])
		}
		fmt.Println(threads())
	}
	runtime.KeepAlive(kept)
}
