package why

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Limit is a channel whose buffer is full while goroutines
// wait to send to it, or a semaphore without a place. It bounds
// how many goroutines are past the
// send, if each of them receives from it later, or how far who
// sends may be ahead of who receives.
type Limit struct {
	Channel  string `json:"channel"`  // its name, as LockName.Name
	Capacity int64  `json:"capacity"` // elements of its buffer
}

// isChannel is the share of the waits that must be at one
// channel to name it.
const isChannel = 0.9

// limit returns the channel with a buffer that goroutines of a
// class wait to send to in some situations; nil if they wait for
// several, or if it has no name.
func (s *searcher) limit(class int32, of func(*situation) bool) *Limit {
	weights, known, all := make(map[Limit]float64), 0.0, 0.0
	shared := s.e.sharedChannels()
	for _, at := range s.members(class) {
		does := at.state.Doing
		sends := does == views.Sending || does == views.Selecting && shared[at.state.Channel]
		if !of(at) || !sends {
			continue
		}
		if all += at.weight; at.state.Channel != 0 {
			n := s.e.channels.At(at.state.Stack, at.state.Channel)
			known += at.weight
			weights[Limit{Channel: n.Name, Capacity: n.Capacity}] += at.weight
		}
	}
	for l, weight := range weights {
		if l.Capacity > 0 && weight >= isChannel*known && 2*known >= all {
			return &l
		}
	}
	return nil
}

// sharedChannels returns the channels that goroutines wait for
// in a select, if it is likely who has places in them. Else a
// select may wait to receive.
func (e *evidence) sharedChannels() map[uint64]bool {
	if e.shared == nil {
		e.shared = make(map[uint64]bool)
		for _, run := range e.r.Runs.All() {
			if run.Evidence == sampledata.Likely && views.DoingOf(run) == views.Selecting {
				e.shared[run.Lock] = true
			}
		}
	}
	return e.shared
}

// limits reports whether the channel of a finding bounds how
// many goroutines of its class are past it.
func (f *Finding) limits() bool { return f.Limit != nil && f.shares() }

// OfSemaphore reports whether goroutines wait for a place in a
// semaphore of the library golang.org/x/sync.
func (f *Finding) OfSemaphore() bool { return f.Where.Library == semaphoreAcquire }

// raiseLimit returns what helps if a channel or a semaphore
// bounds how many goroutines of a class are past it.
func (f *Finding) raiseLimit() string {
	what := "cap(" + f.Limit.Channel + ")"
	if f.OfSemaphore() {
		what = "the size of " + f.Limit.Channel
	}
	return fmt.Sprintf("hold a place for less time, or raise the limit: it is %s, %d", what,
		f.Limit.Capacity)
}
