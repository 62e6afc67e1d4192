// Package student computes Student's t distribution. The one of gonum/stat would
// bring its linear algebra, too.
package student

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Quantile returns the value below which a variable is with a
// probability of at least one half, given its degrees of
// freedom.
func Quantile(p, freedom float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 2*(1-p))
	return math.Sqrt(freedom * (1 - x) / x)
}

// Survival returns the probability that a variable is above t,
// which is not negative.
func Survival(t, freedom float64) float64 {
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(t*t+freedom)) / 2
}
