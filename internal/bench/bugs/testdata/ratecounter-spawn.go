package main

import (
	"time"

	"github.com/paulbellamy/ratecounter"
)

var rate = ratecounter.NewRateCounter(5 * time.Millisecond)

func main() { work(2, time.Millisecond, handle) }

func handle() {
	for range 500 {
		rate.Incr(1)
	}
}
