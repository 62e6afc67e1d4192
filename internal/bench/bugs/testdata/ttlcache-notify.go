package main

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ReneKroon/ttlcache/v2"
)

var (
	cache = ttlcache.NewCache()
	keys  atomic.Int64
)

func main() {
	cache.SetTTL(time.Minute)
	for i := range 1000 {
		cache.Set(strconv.Itoa(i), i)
	}
	work(16, time.Millisecond, handle)
}

func handle() {
	for range 100 {
		key := strconv.FormatInt(keys.Add(1)%1000, 10)
		if _, err := cache.Get(key); err == nil {
			cache.Set(key, 1)
		}
	}
}
