package metrics

// A node is a part of an expression. It returns its value in a sample.
type node func(sample int) float64

// evaluate computes the values of all samples.
func evaluate(n node, samples int) Column {
	c := make(Column, samples)
	for i := range c {
		c[i] = n(i)
	}
	return c
}

// at returns the value in a sample: it is the node of a column.
func (c Column) at(sample int) float64 { return c[sample] }

// constant returns a node with one value in all samples.
func constant(x float64) node { return func(int) float64 { return x } }

// lagged returns a node with the values of another some samples
// before.
func lagged(n node, by int) node {
	return func(i int) float64 {
		if i < by {
			return undefined
		}
		return n(i - by)
	}
}

// differences returns a node with the differences between
// neighbouring values of a column. A counter that began anew has
// no difference there: it may have reached any value before.
func differences(c Column, counter bool) node {
	return func(i int) float64 {
		if i == 0 || counter && c[i] < c[i-1] {
			return undefined
		}
		return c[i] - c[i-1]
	}
}

// pairwise returns a node that computes values from two others.
func pairwise(x, y node, of func(x, y float64) float64) node {
	return func(i int) float64 { return of(x(i), y(i)) }
}

// each returns a node that computes values from one other.
func each(x node, of func(x float64) float64) node {
	return func(i int) float64 { return of(x(i)) }
}

func add(x, y float64) float64      { return x + y }
func subtract(x, y float64) float64 { return x - y }
func multiply(x, y float64) float64 { return x * y }
func smaller(x, y float64) float64  { return min(x, y) }
func larger(x, y float64) float64   { return max(x, y) }

func divide(x, y float64) float64 {
	if y == 0 {
		return undefined
	}
	return x / y
}

// compared returns the truth of a comparison. A comparison with
// an undefined number is undefined.
func compared(holds func(x, y float64) bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if Defined(x) && Defined(y) {
			return truth(holds(x, y))
		}
		return undefined
	}
}

// and is Kleene's: false if one side is false, even if the other
// is undefined.
func and(x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	return x * y
}

// or is Kleene's: true if one side is true, even if the other is
// undefined.
func or(x, y float64) float64 {
	if x == 1 || y == 1 {
		return 1
	}
	return x + y
}

// without is x where y is not true. Where y is undefined, it is not true.
func without(x, y float64) float64 {
	if y == 1 {
		return 0
	}
	return x
}

// logarithm returns a function that is undefined for numbers
// that are not above 0.
func logarithm(of func(x float64) float64) func(x float64) float64 {
	return func(x float64) float64 {
		if !(x > 0) {
			return undefined
		}
		return of(x)
	}
}
