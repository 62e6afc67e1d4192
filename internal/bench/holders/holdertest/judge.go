package holdertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// WarmUp is the number of samples after which all of the
// program's functions have been analysed. They don't count.
const WarmUp = 10

// Options say how long to judge.
type Options struct {
	Interval time.Duration     // between samples
	Enough   func(Scores) bool // reports whether the scores have enough
	Limit    time.Duration     // when to stop, whatever the scores have; 0: never
	AtOnce   bool              // count the samples of the warm-up, too

	// Around, if not nil, calls take while the program stands
	// still: on a slow machine, locks change hands faster than
	// that.
	Around func(take func() error) error
}

// ErrLimit is the error if the scores did not have enough within
// the limit.
var ErrLimit = errors.New("this machine is too busy: locks change hands in the middle of samples")

// A Judge compares the holders that a sampler reports with a
// program's own records. A record counts if it was the same
// before and after the sample.
type judge struct {
	table    *Table
	sink     *states
	scores   Scores
	mistakes []string
}

// maxMistakes bounds the wrong answers that are described.
const maxMistakes = 20

// Judge samples a program until the scores have enough. It
// describes wrong answers in mistakes. It checks the recording
// that it makes.
func Judge(ctx context.Context, b sampler.Backend, t *Table, o Options) (scores Scores,
	mistakes []string, err error) {
	j := &judge{table: t, sink: newStates(b.Header()), scores: NewScores(t.kinds)}
	if o.Around == nil {
		o.Around = func(take func() error) error { return take() }
	}
	start := time.Now()
	for n := 0; n <= WarmUp || !o.Enough(j.scores); n++ {
		if o.Limit > 0 && time.Since(start) > o.Limit {
			return j.scores, j.mistakes, ErrLimit
		}
		time.Sleep(o.Interval)
		if n == WarmUp && !o.AtOnce {
			j.scores = NewScores(t.kinds)
		}
		if err := o.Around(func() error { return j.sample(ctx, b, time.Since(start)) }); err != nil {
			return j.scores, j.mistakes, err
		}
	}
	if err := j.sink.Finish(sampledata.End{}); err != nil {
		return j.scores, j.mistakes, err
	}
	return j.scores, j.mistakes, j.sink.Recording().Check()
}

// sample takes one sample and judges it, unless it is lost.
func (j *judge) sample(ctx context.Context, b sampler.Backend, at time.Duration) error {
	before, err := j.table.read()
	if err != nil {
		return err
	}
	if _, err := b.Observe(ctx, j.sink, sampledata.Sample{Time: at}); err != nil {
		if ended := new(sampler.EndedError); errors.As(err, &ended) {
			return err
		}
		return nil
	}
	after, err := j.table.read()
	if err != nil {
		return err
	}
	j.compare(before, after)
	return nil
}

// compare adds the waiters of the current sample to the scores.
func (j *judge) compare(before, after []record) {
	index := map[uint64]int{}
	for i := range before {
		index[before[i].lock] = i
	}
	for _, s := range j.sink.now {
		k, ok := index[s.Lock]
		if !ok || s.Run != sampledata.Blocked && s.Run != sampledata.Waiting {
			continue
		}
		score := j.scores[j.table.kinds[k]]
		if before[k].changes != after[k].changes || !j.table.isComplete(k, &before[k]) {
			score.Changed++
			continue
		}
		held := before[k].holders
		if next := j.nextWriter(s.Lock); s.Reason != waitsForReaders && next != 0 {
			held = []int64{next} // those that make the readers wait make others wait, too
		}
		if reported := j.sink.sets[s.Holders]; !score.Add(s.Evidence, reported, held) &&
			len(j.mistakes) < maxMistakes {
			j.mistakes = append(j.mistakes, fmt.Sprintf("%s: %v are said to hold what is at %#x (%v), and it is %v (%s)",
				j.table.kinds[k], reported, s.Lock, s.Evidence, held, s.Reason))
		}
	}
}

// waitsForReaders is the reason why a writer waits that gets a
// sync.RWMutex next.
const waitsForReaders = "sync.RWMutex.Lock"

// nextWriter returns the number of the goroutine that gets a
// sync.RWMutex next, after its readers are gone; 0 if none.
func (j *judge) nextWriter(lock uint64) int64 {
	for g, s := range j.sink.now {
		if s.Lock == lock && s.Reason == waitsForReaders {
			return j.sink.ids[g]
		}
	}
	return 0
}
