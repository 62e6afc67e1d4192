package locks

import (
	"cmp"
	"fmt"
	"math"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Watch returns a sink that passes everything to another one,
// and reports deadlocks while they last. Each is reported once,
// in the second sample that shows it. Sample calls report. A
// lock has its name if the sink knows one, else its address.
//
// The sink keeps the tables of functions and stacks, and the
// states of the goroutines that wait for a lock.
func Watch(sink sampledata.Sink, o views.Options, report func(Deadlock)) sampledata.Sink {
	w := &watcher{kept: sampledata.KeepTables(sink), o: o, report: report,
		reported: make(map[string]bool)}
	w.circles = newCircles(func(id sampledata.HolderSetID) []sampledata.GoroutineID { return w.kept.Tables().HolderSets[id] })
	return sampledata.AfterSample(w.kept, w.sample)
}

// A watcher searches for deadlocks after each sample.
type watcher struct {
	kept     *sampledata.TableKeeper
	o        views.Options
	report   func(Deadlock)
	circles  *circles
	reported map[string]bool // by key
	now      int32
}

func (w *watcher) sample(_ sampledata.Sample, changes []sampledata.Change, err error) {
	if err != nil {
		return
	}
	for _, c := range changes {
		if c.Gone {
			w.circles.leave(c.Goroutine, w.now)
		} else {
			w.circles.enter(sampledata.RunOf(c.Goroutine, w.now, math.MaxInt32, c.State))
		}
	}
	w.circles.update(w.now)
	for _, o := range w.circles.standing(w.now) {
		if w.now > 0 && !w.reported[o.key] {
			w.reported[o.key] = true
			w.report(w.describe(o))
		}
	}
	w.now++
}

// describe describes a deadlock, with the names that the locks
// have so far.
func (w *watcher) describe(o *circle) Deadlock {
	d := Deadlock{First: o.first, Last: w.now, Samples: int(w.now-o.first) + 1}
	classOf := views.ClassOf(w.kept.Tables(), w.o)
	for _, g := range o.members {
		run := w.circles.run(g)
		s := run.State()
		name := cmp.Or(w.kept.LatestLockName(s.Lock), fmt.Sprintf("the lock at %#x", s.Lock))
		d.Members = append(d.Members, member(w.kept.Tables(), g, &s, classOf(run), name))
	}
	return d
}
