package locks

import (
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Standing is how long goroutines have not moved, at least, that
// seem to be stuck.
const Standing = 3 * time.Second

// seeming describes the goroutines that wait for a lock when the
// span ends, as they have for some time, though only they
// themselves may hold it. That proves nothing: who has it may be
// unseen.
func (l *ledger) seeming() (all []*Deadlock) {
	last := l.to - 1
	for _, run := range l.r.Runs.All() {
		first := max(run.First, l.from)
		if run.Evidence != sampledata.Ambiguous || first > last || run.Last < last ||
			views.DoingOf(run) != views.AwaitingLock ||
			l.r.Samples.Time(int(last))-l.r.Samples.Time(int(first)) < Standing ||
			!slices.Equal(l.r.HolderSets[run.Holders], []sampledata.GoroutineID{run.Goroutine}) {
			continue
		}
		s := run.State()
		lock := l.ids.locks[l.ids.instance(run)].label
		all = append(all, &Deadlock{First: first, Last: last, Samples: int(last-first) + 1, Seems: true,
			Members: []Member{member(l.r, run.Goroutine, &s, l.classOf(run), lock)}})
	}
	return all
}
