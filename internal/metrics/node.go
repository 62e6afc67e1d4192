package metrics

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// blockSize is how many samples of a metric are computed at a time. The
// intermediate results of a block stay in the processor's cache.
const blockSize = 1024

// A node is a part of an expression. Its method block returns the values of the
// samples from, from+1, ..., as many as out has room for: in out, or in memory
// that the caller must not modify. Several workers may use a node at the same
// time.
type node interface {
	block(w *worker, from int, out []float64) []float64
}

// A worker has memory for the intermediate results of the blocks that it
// computes.
type worker struct {
	buffers [][]float64
	used    int
}

// take returns memory for a block; give gives back what was taken last.
func (w *worker) take(n int) []float64 {
	if w.used == len(w.buffers) {
		w.buffers = append(w.buffers, make([]float64, blockSize))
	}
	w.used++
	return w.buffers[w.used-1][:n]
}

func (w *worker) give() { w.used-- }

// sharedFrom is the number of samples from which on the processors share the
// work.
const sharedFrom = 64 * blockSize

// evaluate computes the values of all samples.
func evaluate(n node, samples int) Column {
	c := make(Column, samples)
	workers := 1
	if samples >= sharedFrom {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var w worker
			for from := int(next.Add(blockSize)) - blockSize; from < samples; from = int(next.Add(
				blockSize)) - blockSize {
				out := c[from:min(from+blockSize, samples)]
				if got := n.block(&w, from, out); &got[0] != &out[0] {
					copy(out, got)
				}
			}
		})
	}
	wg.Wait()
	return c
}

// A whole is a column that is known.
type whole struct{ column Column }

func (n whole) block(_ *worker, from int, out []float64) []float64 {
	return n.column[from : from+len(out)]
}

// A constant is the same value in all samples.
type constant struct{ values []float64 }

func newConstant(x float64) constant {
	return constant{slices.Repeat([]float64{x}, blockSize)}
}

func (n constant) block(_ *worker, _ int, out []float64) []float64 { return n.values[:len(out)] }

// A unary computes a value from one other.
type unary struct {
	of      node
	compute func(out, x []float64)
}

func (n *unary) block(w *worker, from int, out []float64) []float64 {
	x := n.of.block(w, from, out)
	n.compute(out, x)
	return out
}

// A binary computes a value from two others.
type binary struct {
	left, right node
	compute     func(out, x, y []float64)
}

func newBinary(left, right node, compute func(out, x, y []float64)) *binary {
	return &binary{left, right, compute}
}

func (n *binary) block(w *worker, from int, out []float64) []float64 {
	x := n.left.block(w, from, out)
	y := n.right.block(w, from, w.take(len(out)))
	n.compute(out, x[:len(out)], y[:len(out)])
	w.give()
	return out
}

// A lagged has the values of a column some samples before.
type lagged struct {
	column Column
	by     int
}

func (n *lagged) block(_ *worker, from int, out []float64) []float64 {
	if from >= n.by {
		return n.column[from-n.by : from-n.by+len(out)]
	}
	for i := range out {
		if out[i] = undefined; from+i >= n.by {
			out[i] = n.column[from+i-n.by]
		}
	}
	return out
}

// A delta has the differences between neighbouring values of a column. A
// counter that began anew has no difference there: it may have reached any
// value before.
type delta struct {
	column   Column
	counter  bool
	restarts atomic.Int64 // found so far
}

func (n *delta) block(_ *worker, from int, out []float64) []float64 {
	if from == 0 && len(out) > 0 {
		out[0] = undefined
		n.differences(out[1:], n.column[1:], n.column)
		return out
	}
	n.differences(out, n.column[from:], n.column[from-1:])
	return out
}

func (n *delta) differences(out []float64, now, before []float64) {
	now, before = now[:len(out)], before[:len(out)]
	if !n.counter {
		for i := range out {
			out[i] = now[i] - before[i]
		}
		return
	}
	restarts := 0
	for i := range out {
		d := now[i] - before[i]
		if d < 0 {
			d = undefined
			restarts++
		}
		out[i] = d
	}
	n.restarts.Add(int64(restarts))
}

func add(out, x, y []float64) {
	for i := range out {
		out[i] = x[i] + y[i]
	}
}

func subtract(out, x, y []float64) {
	for i := range out {
		out[i] = x[i] - y[i]
	}
}

func multiply(out, x, y []float64) {
	for i := range out {
		out[i] = x[i] * y[i]
	}
}

func divide(out, x, y []float64) {
	for i := range out {
		d := y[i]
		if d == 0 {
			d = undefined
		}
		out[i] = x[i] / d
	}
}

func smaller(out, x, y []float64) {
	for i := range out {
		out[i] = min(x[i], y[i])
	}
}

func larger(out, x, y []float64) {
	for i := range out {
		out[i] = max(x[i], y[i])
	}
}

// compared returns the truth of a comparison. A comparison with an undefined
// number is undefined.
func compared(holds func(x, y float64) bool) func(out, x, y []float64) {
	return func(out, x, y []float64) {
		for i := range out {
			result := undefined // out may be x or y
			if Defined(x[i]) && Defined(y[i]) {
				result = truth(holds(x[i], y[i]))
			}
			out[i] = result
		}
	}
}

// and is Kleene's: false if one side is false, even if the other is undefined.
func and(out, x, y []float64) {
	for i := range out {
		a, b := x[i], y[i]
		if a == 0 || b == 0 {
			out[i] = 0
		} else {
			out[i] = a * b
		}
	}
}

// or is Kleene's: true if one side is true, even if the other is undefined.
func or(out, x, y []float64) {
	for i := range out {
		a, b := x[i], y[i]
		if a == 1 || b == 1 {
			out[i] = 1
		} else {
			out[i] = a + b
		}
	}
}

// without is x where y is not true. Where y is undefined, it is not true.
func without(out, x, y []float64) {
	for i := range out {
		out[i] = x[i]
		if y[i] == 1 {
			out[i] = 0
		}
	}
}

// each returns a function that computes values one by one.
func each(of func(x float64) float64) func(out, x []float64) {
	return func(out, x []float64) {
		for i := range out {
			out[i] = of(x[i])
		}
	}
}

// logarithm returns a function that is undefined for numbers that are not above
// 0.
func logarithm(of func(x float64) float64) func(out, x []float64) {
	return each(func(x float64) float64 {
		if !(x > 0) {
			return undefined
		}
		return of(x)
	})
}
