//go:build linux

package main

import (
	"sync"
	"time"
)

// Many short critical sections, with as much work outside.
func mutexShort() {
	var mu sync.Mutex
	for range 8 {
		go shortHolder(&mu)
	}
}

func shortHolder(mu *sync.Mutex) {
	n := 0
	for {
		mu.Lock()
		n += spin(5000)
		mu.Unlock()
		n += spin(3000)
	}
}

// Long critical sections, with computing and sleeping inside.
func mutexLong() {
	var mu sync.Mutex
	for range 3 {
		go longSleeper(&mu)
		go longSpinner(&mu)
	}
}

func longSleeper(mu *sync.Mutex) {
	for {
		mu.Lock()
		time.Sleep(2 * time.Millisecond)
		mu.Unlock()
		time.Sleep(500 * time.Microsecond)
	}
}

func longSpinner(mu *sync.Mutex) {
	for {
		mu.Lock()
		spinFor(time.Millisecond)
		mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

func rwMutex() {
	var mu sync.RWMutex
	for i := range 6 {
		go rwReader(&mu, i)
	}
	for range 2 {
		go rwWriter(&mu)
	}
}

func rwReader(mu *sync.RWMutex, i int) {
	for {
		mu.RLock()
		if i%2 == 0 {
			spinFor(100 * time.Microsecond)
		} else {
			time.Sleep(300 * time.Microsecond)
		}
		mu.RUnlock()
		time.Sleep(time.Duration(200+100*i) * time.Microsecond)
	}
}

func rwWriter(mu *sync.RWMutex) {
	for {
		mu.Lock()
		spinFor(200 * time.Microsecond)
		time.Sleep(time.Millisecond)
		mu.Unlock()
		time.Sleep(3 * time.Millisecond)
	}
}

// Conditions and groups.
func condWG() {
	q := &condQueue{}
	q.cond.L = &q.mu
	for range 4 {
		go condTaker(q)
	}
	go condGiver(q)
	go groupLeader()
}

type condQueue struct {
	mu   sync.Mutex
	cond sync.Cond
	n    int
}

func condTaker(q *condQueue) {
	for {
		q.mu.Lock()
		for q.n == 0 {
			q.cond.Wait()
		}
		q.n--
		q.mu.Unlock()
		spinFor(200 * time.Microsecond)
	}
}

func condGiver(q *condQueue) {
	for k := 0; ; k++ {
		q.mu.Lock()
		q.n += 3
		spinFor(20 * time.Microsecond)
		q.mu.Unlock()
		if k%2 == 0 {
			q.cond.Broadcast()
		} else {
			q.cond.Signal()
		}
		time.Sleep(time.Millisecond)
	}
}

func groupLeader() {
	for {
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Add(1)
			go groupMember(&wg, i)
		}
		wg.Wait()
		spinFor(100 * time.Microsecond)
	}
}

func groupMember(wg *sync.WaitGroup, i int) {
	defer wg.Done()
	time.Sleep(time.Duration(i+1) * time.Millisecond)
	spinFor(100 * time.Microsecond)
}
