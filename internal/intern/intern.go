// Package intern numbers things.
package intern

// A List has different things, which are numbered from 0 on in
// the order in which they came. The zero List is empty.
type List[T comparable, N ~int | ~int32] struct {
	All     []T
	numbers map[T]N
}

// Number returns the number of a thing, which it adds to the
// list if it is new.
func (l *List[T, N]) Number(of T) N {
	n, known := l.numbers[of]
	if !known {
		if l.numbers == nil {
			l.numbers = make(map[T]N)
		}
		n = N(len(l.All))
		l.numbers[of], l.All = n, append(l.All, of)
	}
	return n
}

// Lookup returns the number of a thing; false if the list lacks it.
func (l *List[T, N]) Lookup(of T) (n N, known bool) {
	n, known = l.numbers[of]
	return n, known
}
