package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var durations = prometheus.NewSummary(prometheus.SummaryOpts{
	Name: "durations", Help: "of requests", Objectives: map[float64]float64{},
})

func main() { work(16, time.Millisecond, handle) }

func handle() {
	for range 2000 {
		durations.Observe(1.5)
	}
}
