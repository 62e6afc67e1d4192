package lockname

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Queue names locks on a goroutine of its own. Reading a large program's debug information takes a second, and a
// sampler can't wait so long.
type Queue struct {
	asks    chan ask
	ended   chan struct{}
	clock   atomic.Pointer[func() time.Duration] // of the queue's thread; nil until the thread runs
	mu      sync.Mutex
	answers []Answer
}

type ask struct {
	waiter *Waiter
	about  any
}

// An Answer is the name of a lock that was asked for; "" if none was found.
type Answer struct {
	About any // the value that was passed to Ask
	Lock  uint64
	Name  string
}

// maxAsked bounds the number of questions without an answer.
const maxAsked = 256

// Start starts naming the locks of a process. See New for bias and read. read is called on the queue's own goroutine.
// threadClock returns a function that returns the processor time of the thread that has called threadClock.
func Start(executable string, bias uint64, read func(addr uint64, b []byte) error, threadClock func() func() time.Duration) *Queue {
	q := &Queue{asks: make(chan ask, maxAsked), ended: make(chan struct{})}
	go q.work(executable, bias, read, threadClock)
	return q
}

// Took returns the processor time that naming has used so far.
func (q *Queue) Took() time.Duration {
	if clock := q.clock.Load(); clock != nil {
		return (*clock)()
	}
	return 0
}

// Ask asks for the name of the lock that a goroutine waits for. The answer will have about in it. Ask returns false if
// too many questions have no answer yet.
func (q *Queue) Ask(w *Waiter, about any) bool {
	select {
	case q.asks <- ask{w, about}:
		return true
	default:
		return false
	}
}

// Answers returns the answers since the previous call.
func (q *Queue) Answers() []Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.answers
	q.answers = nil
	return all
}

// Close stops the queue. Open questions get no answer.
func (q *Queue) Close() {
	close(q.asks)
	<-q.ended
}

// work answers the questions. It reads the debug information when the first one comes. If that fails, no lock gets a
// name.
func (q *Queue) work(executable string, bias uint64, read func(addr uint64, b []byte) error, threadClock func() func() time.Duration) {
	runtime.LockOSThread() // for its clock; the thread ends with this goroutine
	clock := threadClock()
	q.clock.Store(&clock)
	defer func() {
		took := clock()
		atEnd := func() time.Duration { return took }
		q.clock.Store(&atEnd)
		close(q.ended)
	}()
	var n *Namer
	for a := range q.asks {
		if n == nil {
			f, err := os.Open(executable)
			if err != nil {
				return
			}
			defer f.Close()
			if n, err = New(f, bias, read); err != nil {
				return
			}
		}
		name := n.Name(a.waiter)
		q.mu.Lock()
		q.answers = append(q.answers, Answer{a.about, a.waiter.Lock, name})
		q.mu.Unlock()
	}
}
