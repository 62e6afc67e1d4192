package heap

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// blocked returns a group of one goroutine that waits for a
// thing at an address.
func blocked(id int64, wait sampledata.Wait, at uint64) Group {
	g := &Goroutine{ID: id, Verdict: sampledata.Stuck, Wait: wait, Awaits: []uint64{at}, Known: true}
	switch wait {
	case sampledata.ForLock, sampledata.ForReadLock:
		g.Lock = at
	case sampledata.ForGroup:
		g.Awaits[0] += goruntime.WaitGroupSema
	case sampledata.ForCondition:
		g.Awaits[0] += goruntime.CondList
	}
	return Group{Goroutine: g, Goroutines: []*Goroutine{g}}
}

// using returns a group whose goroutine would do a thing.
func using(g Group, kind syncflow.ActionKind, object uint64) Group {
	g.Goroutines[0].Uses = append(g.Goroutines[0].Uses, syncflow.Action{Object: object, Kind: kind})
	return g
}

// keeps returns a group whose goroutine holds a lock.
func keeps(g Group, in string, lock uint64, mode syncflow.Mode, c syncflow.Certainty) Group {
	g.Goroutines[0].Holds = append(g.Goroutines[0].Holds, Hold{
		Held: syncflow.Held{Lock: lock, Mode: mode, Certainty: c}, In: pclntab.Frame{Func: in},
	})
	return g
}

// reaching returns a group that reaches what other groups wait for.
func reaching(g Group, groups ...int) Group {
	g.Reaches = groups
	return g
}

// Code says who ends a wait: who holds the lock, or would use the channel.
func TestEdges(t *testing.T) {
	const c, l = 0x1000, 0x3000
	lock := sampledata.ForLock
	writer := blocked(2, lock, l)
	writer.Goroutines[0].Reason.Readers = true
	type edge struct {
		from, to int64
		sure     bool
	}
	for name, test := range map[string]struct {
		groups []Group
		want   []edge
	}{
		"a channel": {[]Group{
			using(blocked(1, lock, l), syncflow.Send, c), blocked(2, sampledata.ForSender, c),
			using(blocked(3, lock, l), syncflow.Close, c), using(blocked(4, lock, l), syncflow.Receive, c),
		}, []edge{{1, 0, false}, {2, 1, true}, {2, 3, true}, {3, 0, false}, {4, 0, false}}},
		"a group":     {[]Group{using(blocked(1, lock, l), syncflow.Done, c), blocked(2, sampledata.ForGroup, c)}, []edge{{1, 0, false}, {2, 1, true}}},
		"a condition": {[]Group{using(blocked(1, lock, l), syncflow.Signal, c), blocked(2, sampledata.ForCondition, c)}, []edge{{1, 0, false}, {2, 1, true}}},
		"itself":      {[]Group{keeps(blocked(1, lock, l), "f", l, syncflow.Write, syncflow.Sure)}, []edge{{1, 1, true}}},
		"a hold without an address": {[]Group{keeps(blocked(1, lock, l), "f", 0, syncflow.Write, syncflow.Possible)},
			[]edge{{1, 1, false}}},
		"its own channel": {[]Group{using(blocked(1, sampledata.ForSender, c), syncflow.Close, c)}, []edge{{1, 1, true}}},
		"a select that receives": {[]Group{
			using(blocked(1, sampledata.ForChannels, c), syncflow.Receive, c),
			using(blocked(2, lock, l), syncflow.Receive, c), using(blocked(3, lock, l), syncflow.Send, c),
		}, []edge{{1, 3, true}, {2, 0, false}, {3, 0, false}}},
		"a select that sends": {[]Group{
			using(blocked(1, sampledata.ForChannels, c), syncflow.Send, c),
			using(blocked(2, lock, l), syncflow.Receive, c), using(blocked(3, lock, l), syncflow.Send, c),
		}, []edge{{1, 2, true}, {2, 0, false}, {3, 0, false}}},
		"another one that waits for it, too": {[]Group{
			blocked(1, sampledata.ForSender, c), using(blocked(2, sampledata.ForSender, c), syncflow.Close, c),
			blocked(3, sampledata.ForSender, c),
		}, []edge{{1, 2, true}, {2, 2, true}, {3, 2, true}}},
		"it is about to take the lock": {[]Group{
			keeps(blocked(1, lock, l), "internal/sync.(*Mutex).lockSlow", l, syncflow.Write, syncflow.Possible),
		}, []edge{{1, 0, false}}},
		"a reader behind a writer": {[]Group{
			keeps(blocked(1, sampledata.ForReadLock, l), "f", l, syncflow.Read, syncflow.Sure), writer,
		}, []edge{{1, 2, true}, {2, 1, true}}},
		"the surest of three": {[]Group{
			keeps(blocked(1, sampledata.ForSender, c), "f", l, syncflow.Write, syncflow.Possible),
			keeps(blocked(2, sampledata.ForSender, c), "f", l, syncflow.Write, syncflow.Doubtful),
			blocked(3, lock, l), keeps(blocked(4, sampledata.ForSender, c), "f", l, syncflow.Read, syncflow.Sure),
		}, []edge{{1, 0, false}, {2, 0, false}, {3, 2, true}, {4, 0, false}}},
		"one that reaches it": {[]Group{
			keeps(blocked(1, sampledata.ForReceiver, c), "f", l, syncflow.Write, syncflow.Sure), reaching(blocked(2, lock, l), 0),
		}, []edge{{1, 2, false}, {2, 1, true}}},
	} {
		edges, whole := (&Result{Groups: test.groups}).edges()
		var got []edge
		for _, e := range edges {
			got = append(got, edge{e.From, e.To, e.Sure})
		}
		if !slices.Equal(got, test.want) || !whole {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
