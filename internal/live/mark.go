// Package live records programs that run, in memory and on disk,
// and marks their heaps meanwhile.
package live

import (
	"context"
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
)

// An Examiner is a backend that can mark its target's heap.
type Examiner interface {
	Examine(heap.Config) (*heap.Examination, error)
}

// lookAgain is the time between two passes. Old pointers on
// stacks are overwritten meanwhile.
const lookAgain = time.Second

// Marker returns a function that marks a target's heap: once,
// and again if anything is suspected. If that confirms it, a
// halt proves it. Limits bound all that.
func Marker(limits heap.Config) sampler.Marker {
	return func(ctx context.Context, b sampler.Backend) (*sampledata.Marking, error) {
		e, ok := b.(Examiner)
		if !ok {
			return nil, sampler.ErrNoHeap
		}
		x, err := e.Examine(limits)
		if err != nil {
			return nil, err
		}
		limit, err := examine(ctx, x)
		if err != nil {
			return nil, err
		}
		return x.Result(limit).Marking(time.Since(b.Header().Start)), nil
	}
}

// examine makes two passes, and the proof if anything is
// suspected. It returns the limit that forbids the proof, if one
// does.
func examine(ctx context.Context, x *heap.Examination) (limit *heap.LimitError, err error) {
	if err := x.Pass(ctx); err != nil || x.Suspects() == 0 {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(lookAgain):
	}
	if err := x.Pass(ctx); err != nil || x.Suspects() == 0 {
		return nil, err
	}
	if err := x.Prove(ctx); !errors.As(err, &limit) {
		return nil, err
	}
	return limit, nil
}

// Marked records a target in memory until its heap is marked, or
// ctx is done. Samples of the same time say who holds the locks.
func Marked(ctx context.Context, p *sampler.Process, b sampler.Backend,
	limits heap.Config) (*sampledata.Recording, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	mark := Marker(limits)
	var failure error
	builder := sampledata.NewBuilder(b.Header())
	result, err := sampler.Record(ctx, p, b, builder, sampler.Options{
		Mark: func(ctx context.Context, b sampler.Backend) (m *sampledata.Marking, err error) {
			defer stop()
			m, failure = mark(ctx, b)
			return m, failure
		},
	})
	r := builder.Recording()
	switch {
	case err != nil:
		return nil, err
	case r.Marking != nil:
		return r, nil
	case failure != nil && result.End.Cause == sampledata.EndInterrupted:
		return nil, failure
	}
	return nil, &sampler.EndedError{End: result.End}
}

// Between two markings of a program that Watch watches, it is
// left alone for restShare times what the last one took, and at
// least for leastRest.
const (
	restShare = 5
	leastRest = 100 * time.Millisecond
)

// Watch marks the heap of a program again and again until it
// ends or ctx is done, and returns the last recording that
// Marked made of it. What is stuck stays stuck.
func Watch(ctx context.Context, p *sampler.Process, attach func() (sampler.Backend, error),
	limits heap.Config) (
	last *sampledata.Recording, err error) {
	for ctx.Err() == nil && !p.HasEnded() {
		begin := time.Now()
		var b sampler.Backend
		if b, err = attach(); err != nil {
			return last, err
		}
		r, failure := Marked(ctx, p, b, limits)
		busy := time.Since(begin)
		b.Close()
		if err = failure; err == nil {
			last, busy = r, busy-r.Marking.Apart
		}
		select {
		case <-ctx.Done():
		case <-p.Done():
		case <-time.After(max(leastRest, restShare*busy)):
		}
	}
	return last, err
}
