// Package lists has functions for lists and maps that the
// standard library lacks.
package lists

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each returns what a function makes of each value of a list.
func Each[T, U any](list []T, of func(T) U) []U {
	made := make([]U, len(list))
	for i, value := range list {
		made[i] = of(value)
	}
	return made
}

// EachAtOnce is Each on all processors.
func EachAtOnce[T, U any](list []T, of func(T) U) []U {
	made := make([]U, len(list))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(list); i = next.Add(1) - 1 {
				made[i] = of(list[i])
			}
		})
	}
	workers.Wait()
	return made
}

// Count returns how many values of a list a predicate holds for.
func Count[T any](list []T, of func(T) bool) (n int) {
	for _, value := range list {
		if of(value) {
			n++
		}
	}
	return n
}

// Sum adds up the numbers that a function makes of the values of a list.
func Sum[T any, N ~int | ~int64 | ~float64](list []T, of func(T) N) (sum N) {
	for _, value := range list {
		sum += of(value)
	}
	return sum
}

// Made returns a map's value of a key, which it makes if there is none.
func Made[K comparable, V any](m map[K]V, key K, of func() V) V {
	value, known := m[key]
	if !known {
		value = of()
		m[key] = value
	}
	return value
}
