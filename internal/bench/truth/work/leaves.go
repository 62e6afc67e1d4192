//go:build linux

package main

import (
	"crypto/sha256"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// leafRunner calls functions in no regular order, each for about
// 50 to 500 µs.
func leafRunner(functions []func() int) {
	for {
		functions[rand.IntN(len(functions))]()
	}
}

var (
	leaves   = []func() int{f1, f2, f3, inlining, calling, moving, clearing, hashing, calls, reading, napping, clocks, mapping, deepest}
	ratio532 = []func() int{f1, f2, f3}
)

var (
	big  [1 << 20]byte
	big2 [1 << 20]byte
	zero = must(os.Open("/dev/zero"))
)

// loop is inlined into f1, f2 and f3: tight loops without calls.
func loop(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

//go:noinline
func f1() int { return loop(200000) }

//go:noinline
func f2() int { return loop(120000) }

//go:noinline
func f3() int { return loop(80000) }

// small is inlined into inlining.
func small(s, i int) int { return s + i ^ (s << 1) }

//go:noinline
func inlining() int {
	s := 0
	for i := range 200000 {
		s = small(s, i)
	}
	return s
}

//go:noinline
func callee(s, i int) int { return s + i ^ (s << 1) }

// calling spends its time in callee and in calling it.
//
//go:noinline
func calling() int {
	s := 0
	for i := range 100000 {
		s = callee(s, i)
	}
	return s
}

//go:noinline
func moving() int { return copy(big[:], big2[:]) }

//go:noinline
func clearing() int {
	clear(big2[:])
	return 0
}

//go:noinline
func hashing() int {
	h := sha256.Sum256(big[:1<<18])
	return int(h[0])
}

//go:noinline
func calls() int {
	n := 0
	for range 600 {
		n += syscall.Getppid()
	}
	return n
}

//go:noinline
func reading() int { return must(zero.Read(big[:])) }

//go:noinline
func napping() int {
	ts := syscall.NsecToTimespec(200e3)
	syscall.Nanosleep(&ts, nil)
	return 0
}

//go:noinline
func clocks() int {
	n := 0
	for range 6000 {
		n += time.Now().Nanosecond()
	}
	return n
}

//go:noinline
func mapping() int {
	m := map[int]int{}
	for i := range 12000 {
		m[i&1023] += i
	}
	return len(m)
}

func deepest() int { return deep(200) }

//go:noinline
func deep(n int) int {
	if n == 0 {
		return spin(200000)
	}
	return deep(n-1) + 1
}
