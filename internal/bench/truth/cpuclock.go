//go:build linux

package main

import (
	"time"

	"github.com/cpprof/cpprof/sampler"
)

// A cpuClock is what the kernel's clock of a process's CPU time
// showed at a number of times.
type cpuClock struct{ points []cpuPoint }

type cpuPoint struct {
	at   time.Time
	used time.Duration
}

// follow reads the clock of a process fifty times a second until
// stop is called.
func (c *cpuClock) follow(pid int) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(20 * time.Millisecond); ; {
			c.read(pid)
			select {
			case <-quit:
				time.Sleep(20 * time.Millisecond) // the last sample stands for some time after it
				c.read(pid)
				return
			case <-tick:
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// read adds a point; none if the process has ended.
func (c *cpuClock) read(pid int) {
	if used := sampler.ProcessorTimeOf(pid); used > 0 {
		c.points = append(c.points, cpuPoint{time.Now(), used})
	}
}

// cores returns how many CPUs the process used on average
// between two times, and false if that is not known.
func (c *cpuClock) cores(from, to time.Time) (float64, bool) {
	if n := len(c.points); n < 2 || !from.Before(to) || from.Before(c.points[0].at) || to.After(c.points[n-1].at) {
		return 0, false
	}
	return (c.at(to) - c.at(from)) / float64(to.Sub(from)), true
}

// at returns what the clock showed at a time between the first
// and the last point, in nanoseconds.
func (c *cpuClock) at(t time.Time) float64 {
	i := 1
	for i < len(c.points)-1 && c.points[i].at.Before(t) {
		i++
	}
	a, b := c.points[i-1], c.points[i]
	return float64(a.used) + float64(b.used-a.used)*float64(t.Sub(a.at))/float64(b.at.Sub(a.at))
}
