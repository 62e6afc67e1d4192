package sampledata

import (
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// A seriesRecord has the new monitors of a sample, and the
// values that have changed.
type seriesRecord struct {
	sample   int32
	monitors []*pb.Monitor
	values   []byte
}

// besideDecoder decodes series in a goroutine of its own.
// Opening a recording with many monitors then takes hardly
// longer than opening one without. besideDecoder gets a sample's
// values only after the sample was found to be good. If the
// values are bad, the recording may already have later samples.
// Then everything is read once more, up to that sample.
type besideDecoder struct {
	seriesDecoder
	batch  []seriesRecord
	size   int // of the values in the batch
	queue  chan []seriesRecord
	done   chan struct{}
	failed *seriesError // valid after done
}

// A seriesError says that a sample's values can't be read, and why.
type seriesError struct {
	sample int32
	error
}

func (e *seriesError) Unwrap() error { return e.error }

// Bounds of a batch, and of the number of waiting batches.
const (
	batchRecords = 512
	batchSize    = 256 << 10
	waiting      = 2
)

func decodeBeside(texts []string, budget *memory.Budget) *besideDecoder {
	b := &besideDecoder{seriesDecoder: newSeriesDecoder(texts, budget),
		queue: make(chan []seriesRecord, waiting), done: make(chan struct{})}
	go b.run()
	return b
}

// put takes a record, which it keeps.
func (b *besideDecoder) put(r seriesRecord) {
	b.batch, b.size = append(b.batch, r), b.size+len(r.values)
	if len(b.batch) == batchRecords || b.size >= batchSize {
		b.queue <- b.batch
		b.batch, b.size = make([]seriesRecord, 0, batchRecords), 0
	}
}

// run decodes what was put. After an error, it drops the rest.
func (b *besideDecoder) run() {
	defer close(b.done)
	for batch := range b.queue {
		for i := range batch {
			if b.failed != nil {
				break
			}
			if err := b.add(&batch[i]); err != nil {
				b.failed = &seriesError{batch[i].sample, err}
			}
		}
	}
}

// end waits until all is decoded, and moves the series to another
// Builder if it was good.
func (b *besideDecoder) end(to *Builder) error {
	b.queue <- b.batch
	close(b.queue)
	<-b.done
	if b.failed != nil {
		return b.failed
	}
	to.tables.monitors, to.rec.Series = b.b.tables.monitors, b.b.rec.Series
	return nil
}
