// Variables has variables of many types, prints a line, and waits. At SIGUSR1 it changes some of them, and prints a line.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

type stats struct {
	hits  int64
	ratio float64
	last  time.Duration
}

type base struct {
	id    uint16
	inner *stats
}

type server struct {
	base
	name    string
	open    bool
	stats   []stats
	table   [3]stats
	byName  map[string]int
	ch      chan int
	next    *server
	served  atomic.Int64
	handler http.Handler
}

type queue[T any] struct {
	items []T
	size  uint32
}

var (
	served  int
	small   int8  = -5
	byteVar uint8 = 250
	ratio         = 0.25
	single        = float32(1.5)
	huge    uint64
	enabled = true
	text    = "hello"
	numbers = []int32{10, -20, 30}
	grid    [2][3]uint16
	srv     = &server{base: base{id: 7, inner: &stats{hits: 3}}, name: "a server", stats: make([]stats, 2, 5)}
	none    *server
	q       queue[string]
	noMap   map[int]int
	total   atomic.Uint32
)

func change(n int) {
	served += n
	srv.stats[1] = stats{hits: int64(40 + n), ratio: 0.5, last: 3 * time.Second}
	srv.table[2].hits = -1
	srv.byName["x"]++
	srv.ch <- 1
	srv.served.Add(5)
	srv.next = &server{name: "next", stats: make([]stats, n)}
	grid[1][2] = 65535
	numbers = append(numbers, 40)
	q.items, q.size = append(q.items, "a", "b"), q.size+2
	total.Add(9)
	huge = 1 << 63
}

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	srv.byName, srv.ch = map[string]int{"a": 1, "b": 2}, make(chan int, 10)
	fmt.Println("ready", served, small, byteVar, ratio, single, enabled, text, numbers, grid, srv.name, none, q, noMap, total.Load(), srv.open, srv.handler)
	for range c {
		change(2)
		fmt.Println("changed")
	}
	fmt.Println(srv, huge)
}
