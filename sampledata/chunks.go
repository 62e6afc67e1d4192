package sampledata

import "slices"

// A chunked is a list that grows at its end. It consists of
// chunks that never move. A slice of a hundred megabytes would
// need room for a second one to grow, and leave the first as
// garbage.
type chunked[T any] struct {
	chunks [][]T // all but the last have chunkLen elements
}

const (
	chunkBits = 12
	chunkLen  = 1 << chunkBits
)

func (l *chunked[T]) len() int {
	n := len(l.chunks)
	if n == 0 {
		return 0
	}
	return (n-1)<<chunkBits + len(l.chunks[n-1])
}

// at returns an element. The pointer is valid until the next add.
func (l *chunked[T]) at(i int) *T { return &l.chunks[i>>chunkBits][i&(chunkLen-1)] }

// last returns the last element of a list that is not empty.
func (l *chunked[T]) last() *T {
	c := l.chunks[len(l.chunks)-1]
	return &c[len(c)-1]
}

// add appends an element.
func (l *chunked[T]) add(v T) {
	n := len(l.chunks)
	switch {
	case n == 0:
		l.chunks = append(l.chunks, []T{v}) // grows as slices do: most lists are short
	case len(l.chunks[n-1]) < chunkLen:
		l.chunks[n-1] = append(l.chunks[n-1], v)
	default:
		l.chunks = append(l.chunks, append(make([]T, 0, chunkLen), v))
	}
}

// truncate keeps the first n elements.
func (l *chunked[T]) truncate(n int) {
	full, rest := n>>chunkBits, n&(chunkLen-1)
	if rest == 0 {
		l.chunks = slices.Delete(l.chunks, full, len(l.chunks))
		return
	}
	l.chunks = slices.Delete(l.chunks, full+1, len(l.chunks))
	l.chunks[full] = l.chunks[full][:rest]
}

// clip returns the list so far. Elements that are added to l
// later do not change the result.
func (l *chunked[T]) clip() chunked[T] {
	chunks := slices.Clone(l.chunks)
	if n := len(chunks); n > 0 {
		chunks[n-1] = slices.Clip(chunks[n-1])
	}
	return chunked[T]{chunks}
}

// clone returns a copy of the list and of its elements.
func (l *chunked[T]) clone() chunked[T] {
	chunks := slices.Clone(l.chunks)
	for i, c := range chunks {
		chunks[i] = slices.Clone(c)
	}
	return chunked[T]{chunks}
}
