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
	Quota   *Quota          // of recordings; nil: any number
	Pause   time.Duration   // from one recording to the next, at least
	When    *When           // nil: only if asked, and at the end
	Metrics metrics.Options // for When
	// Skip, if not nil, reports whether nothing is kept at some end.
	Skip func(*sampledata.End) bool

	// Write writes what is kept, with an end, and returns its name.
	Write func(*sampledata.Kept, sampledata.End) (name string, err error)
	// Told is called after each Write, by one goroutine at a
	// time. If the last Write fails, Finish returns the error.
	Told func(Keeping)
	// Full is called when the last recording of the quota was written.
	Full func()
}

// A Quota is a number of recordings that several Keepers may
// write together.
type Quota struct {
	mu         sync.Mutex
	most, made int
}

// NewQuota returns a quota of some recordings.
func NewQuota(most int) *Quota { return &Quota{most: most} }

// Written returns how many recordings were written.
func (q *Quota) Written() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.made
}

func (q *Quota) isFull() bool { return q != nil && q.Written() >= q.most }

// write calls a function, unless the quota is full. It counts
// the recording if there was no error. The result is the number
// of the recording.
func (q *Quota) write(f func() error) (number int, err error) {
	if q == nil {
		return 0, f()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.made >= q.most {
		return 0, errFull
	}
	if err := f(); err != nil {
		return 0, err
	}
	q.made++
	return q.made, nil
}

var errFull = errors.New("as many recordings as may be were written")

// A Keeping is one try to keep the last seconds.
type Keeping struct {
	Reason string // such as "main.handle took 812ms"
	Length time.Duration
	Last   bool   // the recording has ended
	Short  bool   // it is less than asked for: more would take too much memory
	Number int    // from 1 up, in the quota
	Name   string // of the recording
	Err    error  // why it was not written
}

// look is the least time from one look at the predicate to the
// next, and lookShare the longest, as a multiple of what a look
// takes.
const (
	look      = 250 * time.Millisecond
	lookShare = 50
)

// longestWait is how long a predicate may hold before what
// precedes is kept: if it ends sooner, all of it is in the
// recording.
const longestWait = 10 * time.Second

// A Keeper is a Sink that keeps the last part of a recording in
// memory. It writes that as a recording of its own when
// something happens: a predicate holds, somebody asks, or the
// recording ends. Then it goes on.
type Keeper struct {
	sampledata.Sink
	o     KeepOptions
	ring  *sampledata.Ring
	vigil *vigil // nil if there is no predicate

	asked       chan string
	stop, ended chan struct{}

	last  int       // the sample after the last one that was written
	wrote time.Time // when that was
	late  string    // the reason to keep what there is when the pause is over

	mu     sync.Mutex
	failed error
}

// Keep starts a Keeper for a recording.
func Keep(h sampledata.Header, o KeepOptions) *Keeper {
	ring := sampledata.NewRing(h, o.Ring)
	k := &Keeper{Sink: ring, o: o, ring: ring, asked: make(chan string, 1),
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

// Allow sets how much memory what is kept may take, from now on.
func (k *Keeper) Allow(memory int64) { k.ring.Allow(memory) }

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
	if k.failed != nil || k.o.Skip != nil && k.o.Skip(&e) && k.late == "" {
		return err
	}
	reason := ending(&e)
	if k.late != "" {
		reason = k.late + "; " + reason
	} else if k.vigil != nil {
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
		if e.Detail == "exited" { // only its parent knows the status
			return "the program ended"
		}
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
	var looks, pause <-chan time.Time
	if k.vigil != nil {
		looks = time.After(look)
	}
	for {
		reason := ""
		select {
		case <-k.stop:
			return
		case asked := <-k.asked:
			_ = k.keep(asked, nil) // Told has the error
		case <-pause:
			reason, k.late, pause = k.late, "", nil
		case <-looks:
			began := time.Now()
			reason = k.look()
			looks = time.After(max(look, lookShare*time.Since(began)))
		}
		left := k.o.Pause - time.Since(k.wrote)
		switch {
		case reason == "" || k.late != "":
		case left > 0:
			k.late, pause = reason, time.After(left)
		default:
			_ = k.keep(reason, nil)
		}
	}
}

// look evaluates the predicate in the samples that are new. It
// returns a reason to keep them, or "".
func (k *Keeper) look() string {
	reason, err := k.vigil.follow(k.ring.Since(k.vigil.seen))
	if err != nil {
		k.mu.Lock()
		k.failed = fmt.Errorf("--when: %w", err)
		k.mu.Unlock()
	}
	return reason
}

// keep writes what there is. end is nil if the recording goes on.
func (k *Keeper) keep(reason string, end *sampledata.End) error {
	one, goesOn := Keeping{Reason: reason, Last: end != nil}, end == nil
	kept, err := k.ring.Kept()
	if k.o.Quota.isFull() || !goesOn && (err != nil || kept.Samples() == k.last) {
		return nil
	}
	if one.Err = err; err == nil {
		one.Length, one.Short = kept.Length(), k.ring.Short()
		if goesOn {
			end = &sampledata.End{Detail: fmt.Sprintf("kept at %s, since %s; the recording went on",
				time.Now().Format(time.DateTime), reason)}
		}
		one.Number, one.Err = k.o.Quota.write(func() (err error) {
			one.Name, err = k.o.Write(kept, *end)
			return err
		})
	}
	if errors.Is(one.Err, errFull) {
		return nil
	}
	if one.Err == nil {
		k.last, k.wrote = kept.Samples(), time.Now()
	}
	if one.Err == nil || goesOn {
		k.o.Told(one)
	}
	if one.Err == nil && k.o.Quota.isFull() {
		k.o.Full()
	}
	return one.Err
}
