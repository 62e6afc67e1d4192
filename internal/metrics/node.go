package metrics

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// blockSize is how many samples of a metric are computed at a
// time. The intermediate results of a block stay in the
// processor's cache.
const blockSize = 1024

// A node is a part of an expression. Its method block returns
// the values of the samples from, from+1, ..., as many as out
// has room for: in out, or in memory that the caller must not
// modify. Several workers may use a node at the same time.
type node interface {
	block(w *worker, from int, out []float64) []float64
}

// A worker has memory for the intermediate results of the blocks
// that it computes.
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

// sharedFrom is the number of samples from which on the
// processors share the work.
const sharedFrom = 64 * blockSize

// evaluate computes the values of all samples.
func evaluate(n node, samples int) Column {
	c := make(Column, samples)
	workers := 1
	if samples >= sharedFrom {
		workers = runtime.GOMAXPROCS(0)
	}
	inParallel(workers, (samples+blockSize-1)/blockSize, func() func(int) {
		var w worker
		return func(block int) {
			from := block * blockSize
			out := c[from:min(from+blockSize, samples)]
			if got := n.block(&w, from, out); &got[0] != &out[0] {
				copy(out, got)
			}
		}
	})
	return c
}

// inParallel calls functions with the numbers from 0 up to n.
// Each worker has a function of its own, which begin returns.
func inParallel(workers, n int, begin func() func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			do := begin()
			for i := next.Add(1) - 1; int(i) < n; i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	wg.Wait()
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

// A delta has the differences between neighbouring values of a
// column. A counter that began anew has no difference there: it
// may have reached any value before.
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

var (
	add      = pairwise(func(x, y float64) float64 { return x + y })
	subtract = pairwise(func(x, y float64) float64 { return x - y })
	multiply = pairwise(func(x, y float64) float64 { return x * y })
	smaller  = pairwise(func(x, y float64) float64 { return min(x, y) })
	larger   = pairwise(func(x, y float64) float64 { return max(x, y) })
)

var divide = pairwise(func(x, y float64) float64 {
	if y == 0 {
		return undefined
	}
	return x / y
})

// compared returns the truth of a comparison. A comparison with
// an undefined number is undefined.
func compared(holds func(x, y float64) bool) func(out, x, y []float64) {
	return pairwise(func(x, y float64) float64 {
		if Defined(x) && Defined(y) {
			return truth(holds(x, y))
		}
		return undefined
	})
}

// and is Kleene's: false if one side is false, even if the other
// is undefined.
var and = pairwise(func(x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	return x * y
})

// or is Kleene's: true if one side is true, even if the other is
// undefined.
var or = pairwise(func(x, y float64) float64 {
	if x == 1 || y == 1 {
		return 1
	}
	return x + y
})

// without is x where y is not true. Where y is undefined, it is not true.
var without = pairwise(func(x, y float64) float64 {
	if y == 1 {
		return 0
	}
	return x
})

// pairwise returns a function that computes values of two lists
// one by one.
func pairwise(of func(x, y float64) float64) func(out, x, y []float64) {
	return func(out, x, y []float64) {
		for i := range out {
			out[i] = of(x[i], y[i])
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

// logarithm returns a function that is undefined for numbers
// that are not above 0.
func logarithm(of func(x float64) float64) func(out, x []float64) {
	return each(func(x float64) float64 {
		if !(x > 0) {
			return undefined
		}
		return of(x)
	})
}
