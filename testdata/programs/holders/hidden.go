package main

import "sync"

// startHidden starts code that holds a lock while nothing in its frames leads to the lock.
func startHidden() {
	each("odd-release", (*thing).release)
	each("returned-method", (*thing).returnedMethod)
	each("returned-defer", (*thing).returnedDeferred)
	each("conditional-defer", func(t *thing, r *record, me int64) { t.conditionalDefer(r, me, r == nil) })
	eachClocked("indexed-store", (*clocked).indexed)

	m := map[string]*thing{"a": {}}
	contend("twice-in-map", &m["a"].mu, func(r *record, me int64) { twiceInMap(m, "a", r, me) })
	g := &registry{locks: map[string]*sync.Mutex{}}
	contend("map-looked-up-twice", g.lockOf("a"), func(r *record, me int64) { g.withChained("a", r, me) })

	ts := []*thing{{name: "a"}, {name: "b"}}
	rs := []*record{addMutex("defer-in-loop", &ts[0].mu), addMutex("defer-in-loop", &ts[1].mu)}
	repeat(workers, func(me int64) { deferInLoop(ts, rs, me); pause() })
	repeat(2, func(me int64) { ts[1].field(rs[1], me); pause() })
}
