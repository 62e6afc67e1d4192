package metrics

// Mean returns what a metric was over the samples of a list: of
// a quotient of two differences, the ratio of their sums; else
// the mean.
func (m *Metric) Mean(l List) float64 {
	if m.Over != nil {
		r, _ := ratio(m.Over, m.Under, l)
		return r
	}
	sum, n := 0.0, 0
	for i, x := range m.Column {
		if l.Has(i) && Defined(x) {
			sum += x
			n++
		}
	}
	if n == 0 {
		return undefined
	}
	return sum / float64(n)
}

// Instances correlates two metrics over the instances of a
// pattern. An instance is a span of neighbouring samples of a
// list, such as one collection. It has one value of each metric:
// the Mean. Leverage has the numbers of instances, from 0 on.
func Instances(x, y *Metric, l List) Correlation {
	spans := l.Spans()
	cx, cy := make(Column, len(spans)), make(Column, len(spans))
	for i, s := range spans {
		in := NewList(len(l))
		for k := s[0]; k < s[1]; k++ {
			in.Add(k)
		}
		cx[i], cy[i] = x.Mean(in), y.Mean(in)
	}
	return Correlate(cx, cy, All(len(spans)))
}

// Runs correlates two metrics over recordings. Each recording
// has one value of each metric. Recordings are independent and
// in no order, so there are no differences and no shift.
// Leverage has the numbers of recordings, from 0 on.
func Runs(x, y Column) Correlation {
	c := Correlate(x, y, All(len(x)))
	c.Differences, c.Lag, c.LagPearson = undefined, 0, c.Pearson
	c.Effective = float64(c.N)
	c.P = chance(c.Pearson, c.Effective)
	return c
}
