//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"slices"
	"time"
)

// The first sample of very many goroutines takes seconds of a
// CPU: it reads, unwinds and reports all of them. On a machine
// where many threads are ready to run, the sampler may need half
// a minute to get that. If the recording is to be over sooner,
// the sample has what there was time for, and the rest is
// counted. Example: a recording of 8 seconds of 200,000
// goroutines, on two machines.
//
//	busy       headers of all for 1 s; stacks of 150,000 until 6.5 s; reports until 8 s
//	very busy  headers of 120,000 until 3.2 s, the others are left out; reports of 110,000 until 8 s, the others are left out, too
//
// If a sample is lost, the next one counts as the first. Later
// ones are given up when the recording is over.
type firstLimits struct {
	takes    time.Duration // how long the first sample may take in any case
	overtime time.Duration // how much later than the recording is over the reports may be written
	// number of goroutines whose headers are read before the
	// next look at the clock
	atOnce int
}

var usualLimits = firstLimits{takes: time.Second, atOnce: 1 << 14}

// isOver reports whether it is time to report the first sample.
// To do that, and to write it, takes up to half as long again as
// reading the headers took.
func (v *survey) isOver(ctx context.Context, headers time.Duration) bool {
	if v.sampled || time.Since(v.began) < v.first.takes {
		return false
	}
	end, ends := ctx.Deadline()
	return ctx.Err() != nil || ends && time.Until(end) < headers*3/2
}

// readFirst reads the headers of the goroutines that are known
// from a lost sample, and of those with these addresses.
func (v *survey) readFirst(ctx context.Context, addrs []uint64) error {
	if err := v.table.read(context.Background(), 0, v.reader, nil, v.scan); err != nil {
		return err
	}
	for part := range slices.Chunk(addrs, v.first.atOnce) {
		if len(v.table.slots) > 0 && v.isOver(ctx, time.Since(v.began)) {
			break
		}
		from := len(v.table.spans)
		v.addPart(part)
		if err := v.table.read(context.Background(), from, v.reader, nil, v.scan); err != nil {
			return err
		}
		addrs = addrs[len(part):]
	}
	v.left = int64(len(addrs))
	return nil
}

// addMany adds goroutines to the table in a later sample, which
// may be the first that reads very many of them.
func (v *survey) addMany(ctx context.Context, addrs []uint64) error {
	if len(addrs) <= v.first.atOnce {
		v.add(addrs)
		return nil
	}
	for part := range slices.Chunk(addrs, v.first.atOnce) {
		if err := ctx.Err(); err != nil {
			return err
		}
		v.addPart(part)
	}
	return nil
}

// reportBy returns when the reports of the first sample should
// be written; the zero Time if they may take as long as they do.
func (v *survey) reportBy(ctx context.Context) time.Time {
	by, ends := ctx.Deadline()
	switch {
	case v.sampled || !ends && ctx.Err() == nil:
		return time.Time{}
	case !ends: // interrupted
		by = time.Now().Add(v.headers * 3 / 2)
	}
	if anyway := v.began.Add(v.first.takes); by.Before(anyway) {
		by = anyway
	}
	return by.Add(v.first.overtime)
}
