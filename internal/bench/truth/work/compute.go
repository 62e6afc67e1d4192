//go:build linux

package main

import (
	"runtime"
	"time"
)

// spin computes for about n/1000 µs.
//
//go:noinline
func spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	runtime.KeepAlive(s)
	return s
}

// spinFor computes until the time is over.
//
//go:noinline
func spinFor(d time.Duration) {
	for t := time.Now(); time.Since(t) < d; {
		spin(2000)
	}
}

func burner() {
	for {
		spin(20000)
	}
}

func yielder() {
	for {
		spin(2000)
		runtime.Gosched()
	}
}

// Duty cycles: 30 % of a period of 1, 10 and 100 ms, in phase
// with the clock.
func duty() {
	go duty1ms()
	go duty10ms()
	go duty100ms()
}

func duty1ms()   { dutyCycle(time.Millisecond, 300*time.Microsecond) }
func duty10ms()  { dutyCycle(10*time.Millisecond, 3*time.Millisecond) }
func duty100ms() { dutyCycle(100*time.Millisecond, 30*time.Millisecond) }

func dutyCycle(period, busy time.Duration) {
	next := time.Now().Truncate(100 * time.Millisecond).Add(200 * time.Millisecond)
	for {
		time.Sleep(time.Until(next))
		for time.Since(next) < busy {
			spin(1000)
		}
		next = next.Add(period)
		if late := time.Since(next); late > 0 {
			next = next.Add(late.Truncate(period) + period)
		}
	}
}

// Phases: all processors are busy for a second and a half, then
// idle for as long.
func phases() { start(4, phaser) }

const phase = 1500 * time.Millisecond

func phaser() {
	for {
		now := time.Now().UnixNano()
		if now/int64(phase)%2 == 0 {
			spinFor(time.Duration(int64(phase) - now%int64(phase)))
		}
		time.Sleep(time.Duration(int64(phase) - time.Now().UnixNano()%int64(phase)))
	}
}

// Timers: short periods, much sleeping.
func timers() {
	start(40, sleeper1ms)
	start(10, ticker10ms)
	go selector()
}

func sleeper1ms() {
	for {
		time.Sleep(time.Millisecond)
		spin(5000)
	}
}

func ticker10ms() {
	for range time.Tick(10 * time.Millisecond) {
		spinFor(200 * time.Microsecond)
	}
}

func selector() {
	t := time.NewTicker(1500 * time.Microsecond)
	for {
		select {
		case <-t.C:
			spinFor(100 * time.Microsecond)
		case <-time.After(time.Millisecond):
			spinFor(50 * time.Microsecond)
		}
	}
}
