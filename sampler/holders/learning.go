package holders

import (
	"time"

	"github.com/cpprof/cpprof/sampler/holders/syncflow"
)

// Learning what the program's functions do to locks, channels,
// groups and conditions is work, in the units of
// syncflow.Refill. The work is bounded. When goroutines are
// first seen to wait for locks, or for one of the others, a
// fixed amount may be done at once. After that, the bound grows
// with each millisecond, independently of the rate of the
// samples. This is about a tenth of a processor while goroutines
// wait for locks, else a hundredth. A recording bounds the
// processor time, too (Finder.MayLearn).
const (
	firstLearning      = 100_000
	firstLearningOther = 20_000
	urgentLearning     = 100
	laterLearning      = 10
)

// usualSpeed is the work in a millisecond, until it is measured.
const usualSpeed = 1000

// A learner reads the program's code within these bounds, and
// measures how long that takes.
type learner struct {
	*syncflow.Analyzer
	threadTime func() time.Duration // returns the processor time that the calling thread has used
	refilled   time.Time            // when the analyzer was last allowed to learn
	spent      int                  // its work by then
	// it has learned something in the previous sample or in this
	// one, and not only long ago
	recent bool
	idle   int           // number of steps since then that have learned nothing
	took   time.Duration // processor time for all that it has learned
	most   time.Duration // bound of took; 0: none
}

// refill lets the analyzer learn as much as the time since the
// last sample allows.
func (l *learner) refill(urgent bool) {
	now := time.Now()
	since := min(now.Sub(l.refilled), time.Second)
	l.refilled = now
	l.recent = l.Spent() != l.spent
	l.spent = l.Spent()
	work := laterLearning
	if urgent {
		work = urgentLearning
	}
	l.grant(work * int(1+since.Milliseconds()))
}

// grant allows more work, as far as the bound on processor time allows it.
func (l *learner) grant(work int) {
	l.Refill(work)
	if l.most == 0 {
		return
	}
	speed := usualSpeed / float64(time.Millisecond)
	if l.took > 5*time.Millisecond {
		speed = float64(l.Spent()) / float64(l.took)
	}
	l.Limit(int(max(-1e12, min(1e12, speed*float64(l.most-l.took)))))
}

// A stopwatch measures a step in which the analyzer may learn something.
type stopwatch struct {
	spent   int
	running bool
	begin   time.Duration
}

// start starts a stopwatch. Reading the clock is a system call,
// so the clock is not read while the analyzer learns nothing,
// such as in a first sample of very many goroutines that all do
// the same. As a consequence, the first step after such a time
// is not measured.
func (l *learner) start() stopwatch {
	w := stopwatch{spent: l.Spent(), running: l.recent}
	if w.running {
		w.begin = l.threadTime()
	}
	return w
}

// maxIdle is how many steps without anything new are measured.
const maxIdle = 64

// stop adds the time since start to the learning time, if the
// analyzer has learned anything.
func (l *learner) stop(w stopwatch) {
	switch learned := l.Spent() != w.spent; {
	case !w.running:
		l.recent = learned
	case learned:
		l.took += l.threadTime() - w.begin
		l.idle = 0
	default:
		if l.idle++; l.idle == maxIdle {
			l.recent, l.idle = false, 0
		}
	}
}
