package blame

import (
	"time"

	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// The work of learning what the program's functions do to locks, channels, groups and conditions, in the units of
// syncflow.Refill, is bounded: so much may be done at once if goroutines are seen to wait for locks for the first time, or
// for the others of these; and so much more for each millisecond from then on, whatever the rate of the samples. That is about
// a tenth of a processor while goroutines wait for locks, else a hundredth.
const (
	firstLearning      = 100_000
	firstLearningOther = 20_000
	urgentLearning     = 100
	laterLearning      = 10
)

// A learner reads the program's code within these bounds, and measures how long that takes.
type learner struct {
	*syncflow.Analyzer
	threadTime func() time.Duration // of the processor, that the calling thread has used
	refilled   time.Time            // when the analyzer was last let learn
	spent      int                  // its work by then
	recent     bool                 // it learned something in the sample before, or in this one
	took       time.Duration        // for all that it learned
}

// refill lets the analyzer learn as much as the time since the last sample allows.
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
	l.Refill(work * int(1+since.Milliseconds()))
}

// A stopwatch measures something that may be learning.
type stopwatch struct {
	spent   int
	running bool
	begin   time.Duration
}

// start starts a stopwatch. To read the clock is a system call, which is saved while the analyzer learns nothing. So the first
// thing that it learns after such a time is not measured.
func (l *learner) start() stopwatch {
	w := stopwatch{spent: l.Spent(), running: l.recent}
	if w.running {
		w.begin = l.threadTime()
	}
	return w
}

// stop adds the time since start to that of learning, if the analyzer learned anything.
func (l *learner) stop(w stopwatch) {
	switch learned := l.Spent() != w.spent; {
	case !w.running:
		l.recent = learned
	case learned:
		l.took += l.threadTime() - w.begin
	}
}
