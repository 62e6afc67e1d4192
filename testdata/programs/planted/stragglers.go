package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"sync"
	"time"
)

const shards = 20

// straggler has members that work in rounds: nobody begins the next one before all have ended. One has five hundred times the work of the others. In
// the twin, all have little, and a round begins now and then.
func straggler(healthy bool) {
	var begin, end [shards]chan struct{}
	for i := range shards {
		begin[i], end[i] = make(chan struct{}), make(chan struct{})
		labels := pprof.Labels("shard", fmt.Sprint(i))
		go pprof.Do(context.Background(), labels, func(context.Context) { member(i, begin[i], end[i], healthy) })
	}
	go rounds(&begin, &end, healthy)
}

func rounds(begin, end *[shards]chan struct{}, healthy bool) {
	for {
		if healthy {
			time.Sleep(4 * pace)
		}
		var all sync.WaitGroup
		for i := range shards {
			all.Go(func() { begin[i] <- struct{}{}; <-end[i] })
		}
		all.Wait()
	}
}

func member(shard int, begin <-chan struct{}, end chan<- struct{}, healthy bool) {
	for range begin {
		size := 2
		if shard == 7 && !healthy {
			size = 1000
		}
		merge(size)
		end <- struct{}{}
	}
}

//go:noinline
func merge(size int) {
	for range size {
		sink += spin(5)
	}
}
