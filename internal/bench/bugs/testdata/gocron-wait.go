package main

import (
	"crypto/sha256"
	"time"

	"github.com/go-co-op/gocron"
)

// The report's scheduler, in a program that does other work.
func main() {
	s := gocron.NewScheduler(time.UTC)
	s.SetMaxConcurrentJobs(1, gocron.WaitMode)
	for range 2 {
		_, err := s.Every(5*time.Second).Do(time.Sleep, 3*time.Second)
		check(err)
	}
	s.StartAsync()
	page := make([]byte, 64<<10)
	work(8, time.Millisecond, func() { sha256.Sum256(page) })
}
