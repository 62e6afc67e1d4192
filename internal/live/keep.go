package live

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/sampledata"
)

// KeepOptions say what a Keeper keeps, and when.
type KeepOptions struct {
	Ring    sampledata.RingOptions
	Times   int             // number of recordings that are kept, at most
	When    *When           // nil: only if asked, and at the end
	Metrics metrics.Options // for When

	// Write writes what is kept, with an end, and returns its name.
	Write func(*sampledata.Kept, sampledata.End) (name string, err error)
	// Told is called after each Write, by one goroutine at a time. If the last
	// Write fails, Finish returns the error.
	Told func(Keeping)
	// Full is called when all were kept.
	Full func()
}

// A Keeping is one try to keep the last seconds.
type Keeping struct {
	Reason string // such as "main.handle took 812ms"
	Length time.Duration
	Short  bool   // it is less than asked for: more would take too much memory
	Number int    // from 1 up
	Name   string // of the recording
	Err    error  // why it was not written
}

// look is the least time from one look at the predicate to the next, and
// lookShare the longest, as a multiple of what a look takes.
const (
	look      = 250 * time.Millisecond
	lookShare = 50
)

// longestWait is how long a predicate may hold before what precedes is kept: if
// it ends sooner, all of it is in the recording.
const longestWait = 10 * time.Second

// A Keeper is a Sink that keeps the last part of a recording in memory. It
// writes that as a recording of its own when something happens: a predicate
// holds, somebody asks, or the recording ends. Then it goes on.
type Keeper struct {
	sampledata.Sink
	o     KeepOptions
	ring  *sampledata.Ring
	start time.Time
	vigil *vigil // nil if there is no predicate

	asked       chan string
	stop, ended chan struct{}

	mu     sync.Mutex
	number int // of recordings that were written
	last   int // the sample after the last one that was written
	failed error
}

// Keep starts a Keeper for a recording.
func Keep(h sampledata.Header, o KeepOptions) *Keeper {
	ring := sampledata.NewRing(h, o.Ring)
	k := &Keeper{Sink: ring, o: o, ring: ring, start: h.Start, asked: make(chan string, 1),
		stop: make(chan struct{}), ended: make(chan struct{})}
	if o.When != nil {
		k.vigil = newVigil(o.When, o.Metrics, min(o.Ring.Keep/2, longestWait))
		if len(o.When.calls) > 0 {
			k.Sink = newLongestCalls(ring, o.When.calls)
		}
	}
	go k.watch()
	return k
}

// Number returns how many recordings were written.
func (k *Keeper) Number() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.number
}

// Ask keeps what there is, for a reason.
func (k *Keeper) Ask(reason string) {
	select {
	case k.asked <- reason:
	default: // it was just asked
	}
}

// Sample returns an error if the predicate can't be computed.
func (k *Keeper) Sample(s sampledata.Sample, changes []sampledata.Change) error {
	k.mu.Lock()
	err := k.failed
	k.mu.Unlock()
	if err != nil {
		return err
	}
	return k.Sink.Sample(s, changes)
}

// Finish keeps what came after the last recording that was kept.
func (k *Keeper) Finish(e sampledata.End) error {
	close(k.stop)
	<-k.ended
	err := k.Sink.Finish(e)
	if k.failed != nil {
		return err
	}
	reason := ending(&e)
	if k.vigil != nil {
		if _, failed := k.vigil.follow(k.ring.Since(k.vigil.seen)); failed == nil {
			if held := k.vigil.pending(); held != "" {
				reason += ", while " + held
			}
		}
	}
	return errors.Join(err, k.keep(reason, &e))
}

// ending says how a recording ended.
func ending(e *sampledata.End) string {
	switch e.Cause {
	case sampledata.EndExited:
		return fmt.Sprintf("the program ended with status %d", e.ExitStatus)
	case sampledata.EndKilled:
		return "the program was ended by a signal: " + e.Detail
	case sampledata.EndExec:
		return "the program became another one"
	case sampledata.EndDuration:
		return "the time is over"
	case sampledata.EndInterrupted:
		return "interrupted"
	}
	return e.Detail
}

// watch waits for reasons to keep what there is.
func (k *Keeper) watch() {
	defer close(k.ended)
	var looks <-chan time.Time
	if k.vigil != nil {
		looks = time.After(look)
	}
	for {
		select {
		case <-k.stop:
			return
		case reason := <-k.asked:
			_ = k.keep(reason, nil) // Told has the error
		case <-looks:
			began := time.Now()
			k.look()
			looks = time.After(max(look, lookShare*time.Since(began)))
		}
	}
}

// look evaluates the predicate in the samples that are new.
func (k *Keeper) look() {
	reason, err := k.vigil.follow(k.ring.Since(k.vigil.seen))
	if err != nil {
		k.mu.Lock()
		k.failed = fmt.Errorf("--when: %w", err)
		k.mu.Unlock()
		return
	}
	if reason != "" {
		_ = k.keep(reason, nil) // Told has the error
	}
}

// keep writes what there is. end is nil if the recording goes on.
func (k *Keeper) keep(reason string, end *sampledata.End) error {
	one, goesOn := Keeping{Reason: reason}, end == nil
	kept, err := k.ring.Kept()
	k.mu.Lock()
	full := k.number >= k.o.Times
	k.mu.Unlock()
	if full || !goesOn && (err != nil || kept.Samples() == k.last) {
		return nil
	}
	if one.Err = err; err == nil {
		one.Length, one.Short = kept.Length(), k.ring.Short()
		if goesOn {
			end = &sampledata.End{Detail: fmt.Sprintf("kept at %s, since %s; the program went on",
				time.Now().Format(time.DateTime), reason)}
		}
		one.Name, one.Err = k.o.Write(kept, *end)
	}
	if one.Err == nil {
		k.mu.Lock()
		k.number++
		one.Number, full = k.number, k.number >= k.o.Times
		k.mu.Unlock()
		k.last = kept.Samples()
	}
	if one.Err == nil || goesOn {
		k.o.Told(one)
	}
	if full {
		k.o.Full()
	}
	return one.Err
}
