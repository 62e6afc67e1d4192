package main

import (
	"time"

	"go.uber.org/ratelimit"
)

var limit = ratelimit.New(50_000_000)

func main() { work(16, time.Millisecond, handle) }

func handle() {
	for range 2000 {
		limit.Take()
	}
}
