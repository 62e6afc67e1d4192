package sampler

import (
	"context"
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// onceTries is how often Once tries to halt a target: a halt may
// fail on a very busy machine.
const onceTries = 5

// Once makes a recording of one sample. If the target has ended,
// the error is an *EndedError.
func Once(ctx context.Context, b Backend) (*sampledata.Recording, error) {
	header := b.Header()
	builder := sampledata.NewBuilder(header)
	for try := 1; ; try++ {
		_, err := b.Observe(ctx, builder, sampledata.Sample{Time: time.Since(header.Start)})
		if err == nil {
			return builder.Recording(), nil
		}
		var ended *EndedError
		if ctx.Err() != nil || errors.As(err, &ended) || try == onceTries {
			return nil, err
		}
	}
}
