package tool

import (
	"cmp"
	"slices"
)

// Median sorts values, and returns the middle one.
func Median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
