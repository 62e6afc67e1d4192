package lockname

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Queue names locks on a goroutine of its own. Reading a large
// program's debug information takes a second, and a sampler
// can't wait so long.
type Queue struct {
	asks    chan ask
	ended   chan struct{}
	clock   atomic.Pointer[func() time.Duration] // of the queue's thread; nil until the thread runs
	most    atomic.Int64                         // bound of Took, in nanoseconds; 0: none
	closed  atomic.Bool
	open    atomic.Int64 // questions without an answer
	mu      sync.Mutex
	answers []Answer
}

type ask struct {
	waiter *Waiter
	about  any
}

// An Answer is the name of a lock that was asked for; "" if none
// was found.
type Answer struct {
	About any // the value that was passed to Ask
	Lock  uint64
	Name  string
}

// maxAsked bounds the number of questions without an answer.
const maxAsked = 256

// Start starts naming the locks of a process. See New for bias
// and read. read is called on the queue's own goroutine.
// threadClock returns a function that returns the processor time
// of the thread that has called threadClock. See MayTake for
// most.
func Start(executable string, bias uint64, read func(addr uint64, b []byte) error,
	threadClock func() func() time.Duration, most time.Duration) *Queue {
	q := &Queue{asks: make(chan ask, maxAsked), ended: make(chan struct{})}
	q.MayTake(most)
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

// MayTake sets what Took may be until the next call; 0 is no
// bound. The queue waits in the middle of its work.
func (q *Queue) MayTake(most time.Duration) { q.most.Store(int64(most)) }

// waitStep is how often the queue looks whether it may go on.
const waitStep = 5 * time.Millisecond

var errClosed = errors.New("the queue was closed")

// mayGoOn waits until the queue may use more processor time. Its
// own thread calls it.
func (q *Queue) mayGoOn(clock func() time.Duration) error {
	for !q.closed.Load() {
		if most := q.most.Load(); most == 0 || clock() < time.Duration(most) {
			return nil
		}
		time.Sleep(waitStep)
	}
	return errClosed
}

// Finish lifts the bound, and waits until all questions have
// their answers, but not longer than a given time.
func (q *Queue) Finish(patience time.Duration) {
	q.MayTake(0)
	for end := time.Now().Add(patience); q.open.Load() > 0 && time.Now().Before(end); {
		select {
		case <-q.ended:
			return
		case <-time.After(waitStep):
		}
	}
}

// Ask asks for the name of the lock that a goroutine waits for.
// The answer will have about in it. Ask returns false if too
// many questions have no answer yet.
func (q *Queue) Ask(w *Waiter, about any) bool {
	select {
	case q.asks <- ask{w, about}:
		q.open.Add(1)
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
	q.closed.Store(true)
	close(q.asks)
	<-q.ended
}

// work answers the questions. It reads the debug information
// when the first one comes. If that fails, no lock gets a name.
func (q *Queue) work(executable string, bias uint64, read func(addr uint64, b []byte) error,
	threadClock func() func() time.Duration) {
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
			paced := pacedFile{f, func() error { return q.mayGoOn(clock) }}
			if n, err = New(paced, bias, read); err != nil {
				return
			}
		}
		if q.mayGoOn(clock) != nil {
			return
		}
		name := n.Name(a.waiter)
		q.mu.Lock()
		q.answers = append(q.answers, Answer{a.about, a.waiter.Lock, name})
		q.mu.Unlock()
		q.open.Add(-1)
	}
}

// A pacedFile is read only when the queue may go on. Compressed
// sections are read in small pieces.
type pacedFile struct {
	io.ReaderAt
	mayGoOn func() error
}

func (f pacedFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.mayGoOn(); err != nil {
		return 0, err
	}
	return f.ReaderAt.ReadAt(b, at)
}
