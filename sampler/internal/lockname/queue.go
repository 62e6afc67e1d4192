package lockname

import (
	"os"
	"sync"
)

// A Queue names locks beside its caller's own work: reading a large program's debug information takes a second, and a
// sampler has none.
type Queue struct {
	asks    chan ask
	ended   chan struct{}
	mu      sync.Mutex
	answers []Answer
}

type ask struct {
	waiter *Waiter
	about  any
}

// An Answer is the name of a lock that was asked for; "" if there is none to be found.
type Answer struct {
	About any // what Ask was given
	Lock  uint64
	Name  string
}

// maxAsked bounds the questions that wait for an answer.
const maxAsked = 256

// Start makes ready to name the locks of a process. Bias and read are those of New; read is called beside the caller's own work.
func Start(executable string, bias uint64, read func(addr uint64, b []byte) error) *Queue {
	q := &Queue{asks: make(chan ask, maxAsked), ended: make(chan struct{})}
	go q.work(executable, bias, read)
	return q
}

// Ask asks for the name of the lock that a goroutine waits for; about is what the answer will be about. It reports false
// if too many questions wait for an answer already.
func (q *Queue) Ask(w *Waiter, about any) bool {
	select {
	case q.asks <- ask{w, about}:
		return true
	default:
		return false
	}
}

// Answers returns the answers that have come since the last time.
func (q *Queue) Answers() []Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.answers
	q.answers = nil
	return all
}

// Close ends the work. What has been asked for is not answered any more.
func (q *Queue) Close() {
	close(q.asks)
	<-q.ended
}

// work answers. The debug information is read when the first lock is to be named; if it can't be, no lock gets a name.
func (q *Queue) work(executable string, bias uint64, read func(addr uint64, b []byte) error) {
	defer close(q.ended)
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
