package why

import (
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// moments are samples of a span, each with its goroutines that
// work: they don't wait for work, and have moved in the
// recording. In a large recording these are some blocks of
// neighbouring samples.
type moments struct {
	s        *searcher
	samples  []int32
	workers  [][]worker // by moment
	collects []bool     // by situation: it waits for the collector
	asks     []bool     // by situation: it waits for a server's answer, or a new connection to one
	others   bool       // these servers are certainly not the program itself
	own      bool       // they may be, as far as connections were counted
	waking   []int32    // the classes that sleep, and wake again and again
	pools    map[poolKey]*pool
	peers    map[uint64][]int32 // see evidence.atChannels
	sent     map[delivery]float64
	members  map[int32][]sampledata.GoroutineID // by run: those of the group that it waits for
}

// A worker is a goroutine that works.
type worker struct {
	goroutine sampledata.GoroutineID
	run       int32
	situation int32
	holders   sampledata.HolderSetID
	lock      uint64 // that it waits for
	free      bool   // nobody holds that lock
	certain   bool   // it is known who does, or likely
}

const (
	mostMoments  = 1000
	leastMoments = 100
	mostWorkers  = 200_000 // in all moments together
	momentBlock  = 10      // neighbouring samples
)

// newMoments reads moments from the evidence.
func newMoments(s *searcher) *moments {
	e := s.e
	m := &moments{s: s, pools: make(map[poolKey]*pool), members: make(map[int32][]sampledata.GoroutineID), peers: e.atChannels(),
		collects: e.matching(s.awaitsCollector), asks: e.matching(s.asksOutside), sent: e.sending()}
	m.others, m.own = e.asksOthers(), e.ownConnections() > 0
	for class := range int32(len(e.classes)) {
		if s.wakesAgain(class) {
			m.waking = append(m.waking, class)
		}
	}
	m.choose()
	m.workers = make([][]worker, len(m.samples))
	from := make([]int32, e.to-e.from+1) // by sample: the first moment that is not before
	next := int32(len(m.samples))
	for i := range slices.Backward(from) {
		if next > 0 && m.samples[next-1]-e.from >= int32(i) {
			next--
		}
		from[i] = next
	}
	for i, run := range e.r.Runs.All() {
		at := e.of[i]
		if at < 0 || e.situations[at].idle || e.situations[at].still {
			continue
		}
		w := worker{run.Goroutine, int32(i), at, run.Holders, run.Lock, run.Evidence == sampledata.Free, run.Evidence.Blames()}
		end := from[min(run.Last+1, e.to)-e.from]
		for k := from[max(run.First, e.from)-e.from]; k < end; k++ {
			m.workers[k] = append(m.workers[k], w)
		}
	}
	return m
}

// asksOutside reports whether a goroutine waits for the answer of
// a server, or until there is a new connection to it.
func (s *searcher) asksOutside(at *situation) bool {
	if s.asksServer(at) {
		return true
	}
	return at.waits() && s.keepsNone() && s.e.places.matches(at.state.Stack, requesting)
}

// choose chooses the samples.
func (m *moments) choose() {
	e := m.s.e
	active := lists.Sum(e.classes, func(c class) float64 { return e.mean(c.active) })
	want := max(leastMoments, min(mostMoments, int(mostWorkers/max(active, 1))))
	all := int(e.to - e.from)
	blocks := want / momentBlock
	if all <= want {
		blocks = (all + momentBlock - 1) / momentBlock
	}
	for b := range blocks {
		first := b * momentBlock
		if all > want {
			first = b * (all - momentBlock) / max(1, blocks-1)
		}
		for i := first; i < min(first+momentBlock, all); i++ {
			m.samples = append(m.samples, e.from+int32(i))
		}
	}
}

// weight returns the time that a moment stands for.
func (m *moments) weight(moment int) float64 {
	return m.s.e.between(m.samples[moment], m.samples[moment])
}

// A poolKey is the function of a class in which it waits.
type poolKey struct {
	class    int32
	function string
}

// A pool is what the goroutines of a class share, such as
// connections: some wait for one in a function, while others are
// further on in it and have one.
type pool struct {
	has []bool // by situation
}

// pool returns the pool that a situation waits for; nil if it is
// none. Only the class itself is seen at the channel then, and
// its loop is no such function.
func (m *moments) pool(situation int32) *pool {
	at := m.s.e.situations[situation]
	if d := at.state.Doing; m.asks[situation] || !d.OfChannel() && d != views.AwaitingCondition &&
		d != views.AwaitingSemaphore {
		return nil
	}
	key := poolKey{at.class, m.s.e.places.at(at.state.Stack)}
	return lists.Made(m.pools, key, func() *pool { return m.newPool(key, at) })
}

func (m *moments) newPool(key poolKey, waits *situation) *pool {
	e := m.s.e
	if len(m.peers[waits.state.Channel]) > 1 || m.s.isLoop(key.class, key.function) {
		return nil
	}
	p, some := &pool{has: make([]bool, len(e.situations))}, false
	for i, at := range e.situations {
		p.has[i] = at.class == key.class && !at.idle &&
			e.places.past(at.state.Stack, waits.state.Stack, key.function)
		some = some || p.has[i]
	}
	if !some {
		return nil
	}
	return p
}
