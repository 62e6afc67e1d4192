package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
)

const clients = 1_000_000

var next atomic.Int64

func main() {
	store, err := memorystore.New(&memorystore.Config{
		Tokens: 100, Interval: time.Minute, SweepInterval: 200 * time.Millisecond, SweepMinTTL: time.Hour, InitialAlloc: clients,
	})
	check(err)
	for range clients {
		handle(store)
	}
	work(16, 2*time.Millisecond, func() { handle(store) })
}

func handle(store limiter.Store) {
	_, _, _, _, err := store.Take(context.Background(), strconv.FormatInt(next.Add(1)%clients, 10))
	check(err)
}
