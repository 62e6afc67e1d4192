package metrics

import "math"

// A Column has a value for each sample of a recording. NaN means
// that the value is undefined: not measured, or not computable.
// A Column that a Table returns is shared and must not be
// modified.
type Column []float64

// undefined is the value of a sample in which there is none.
var undefined = math.NaN()

// Defined reports whether a value of a column is defined.
func Defined(x float64) bool { return x == x }

// Count returns the number of defined values.
func (c Column) Count() (n int) {
	for _, x := range c {
		if Defined(x) {
			n++
		}
	}
	return n
}

// In returns the column with undefined values in all samples
// that the list does not have.
func (c Column) In(l List) Column {
	in := make(Column, len(c))
	for i, x := range c {
		if in[i] = undefined; l.Has(i) {
			in[i] = x
		}
	}
	return in
}

// A truth is a value of a predicate: 1 for true, 0 for false, or
// undefined.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
