package main

import (
	"context"
	"time"

	"github.com/lestrrat-go/backoff/v2"
)

var policy = backoff.Constant(backoff.WithInterval(2*time.Millisecond), backoff.WithMaxRetries(0))

func main() { work(8, 10*time.Millisecond, handle) }

func handle() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for try := policy.Start(ctx); backoff.Continue(try); {
		time.Sleep(10 * time.Millisecond) // a request, that succeeds
		return
	}
}
