package why

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Bound is a channel that is full of the places that a
// finding's goroutines have: no more than that many go on at
// once.
type Bound struct {
	Limit
	Share float64 `json:"share"` // of the time in which others wait for a place
}

// minBounding is the share of the time in which others wait,
// from which a channel bounds those that have its places.
const minBounding = 0.5

// placing matches the names of channels that are full of places.
// Goroutines that live on, and never wait for a channel of another
// name, take values out of it.
var placing = regexp.MustCompile(`(?i)(^|[^a-z])(sem|sema|semaphore|slot|permit|limit|place|mutex|gate|lock)s?$|` +
	`[a-z](Sem|Sema|Semaphore|Slot|Permit|Limit|Place|Mutex|Gate|Lock)s?$`)

// A bounding sums up the waits for the places in one channel.
type bounding struct {
	until   int32   // the last sample that counts
	waited  float64 // the time in which somebody waits
	holders sums    // by class
	waiters sums
}

// findBounds finds out which findings are about goroutines that
// have the places that others wait for.
func (a *searched) findBounds() {
	all := a.e.boundings()
	for _, f := range a.Findings {
		if !f.row().waits || f.Kind == LockKind {
			continue
		}
		classes := append([]string{f.Class}, names(slices.Concat(f.Behind, f.Others))...)
		for limit, b := range all {
			share := b.waited / a.e.length
			holds, total := 0.0, 0.0
			for class, weight := range b.holders {
				c := &a.e.classes[class]
				places := b.waiters[class] > 0 || c.ends() || placing.MatchString(limit.Channel)
				if total += weight; places && slices.Contains(classes, c.name) {
					holds += weight
				}
			}
			waits := f.Limit != nil && *f.Limit == limit
			best := f.Bound == nil ||
				cmp.Or(cmp.Compare(share, f.Bound.Share), cmp.Compare(f.Bound.Channel, limit.Channel)) > 0
			if !waits && best && share >= minBounding && 2*holds > total {
				f.Bound = &Bound{limit, share}
			}
		}
	}
}

// boundings sums up the waits to send to channels with a buffer,
// if it is likely who has the places in it.
func (e *evidence) boundings() map[Limit]*bounding {
	all, classOf := make(map[Limit]*bounding), slices.Repeat([]int32{-1}, e.r.Goroutines.Len())
	for run, at := range e.runs(anywhere) {
		classOf[run.Goroutine] = at.class
	}
	for run, at := range e.runs(anywhere) {
		if run.Evidence != sampledata.Likely || !views.DoingOf(run).OfChannel() {
			continue
		}
		name := e.channels.At(run.Stack, run.Lock)
		if name.Capacity == 0 {
			continue
		}
		limit := Limit{Channel: name.Name, Capacity: name.Capacity}
		b := lists.Made(all, limit,
			func() *bounding {
				return &bounding{until: e.from - 1, holders: make(sums), waiters: make(sums)}
			})
		// runs are in the order of their first samples
		if last := min(run.Last, e.to-1); last > b.until {
			b.waited += e.between(max(run.First, b.until+1), last)
			b.until = last
		}
		weight := e.between(run.First, run.Last)
		b.waiters[at.class] += weight
		for _, g := range e.r.HolderSets[run.Holders] {
			if class := classOf[g]; class >= 0 {
				b.holders[class] += weight
			}
		}
	}
	return all
}
