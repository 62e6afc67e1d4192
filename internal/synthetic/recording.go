// Package synthetic makes large recordings for benchmarks. The same arguments
// always make the same recording.
package synthetic

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// The shape of a synthetic server.
const (
	classes    = 20
	processors = 4
	sites      = 40 // number of stacks of a class
	depth      = 25 // depth of the deepest stacks
	packages   = 50 // number of packages of the functions
	interval   = 10 * time.Millisecond
)

// Recording makes a recording of a server with the given number
// of goroutines. From one sample to the next, the given share of
// them changes: a goroutine gets another stack or state, or ends
// and a new one replaces it. The recording has all typed times,
// locks with holders, labels, jittered ticks and an end.
func Recording(samples, goroutines int, share float64) *sampledata.Recording {
	b := sampledata.NewBuilder(Header())
	if err := Record(b, samples, goroutines, share); err != nil {
		panic(err) // can't happen: the samples are valid
	}
	return b.Recording()
}

// Header returns the header of a synthetic recording.
func Header() sampledata.Header {
	return sampledata.Header{
		Command: []string{"./server"}, Executable: "/srv/server", PID: 4711, GoVersion: "go1.26.0",
		OS: "linux", Arch: "amd64",
		GOMAXPROCS: processors, Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Clock: "monotonic",
		Sampler: sampledata.Settings{Version: "synthetic", Backend: "synthetic",
			RateHz: float64(time.Second / interval), Jitter: 1, MaxOverhead: 0.01},
	}
}

// Record writes the samples of Recording to a sink, as a sampler would.
func Record(sink sampledata.Sink, samples, goroutines int, share float64) error {
	s := newServer(sink)
	for range goroutines {
		s.spawn()
	}
	at := time.Duration(0)
	for i := range samples {
		if i > 0 {
			s.step(share)
		}
		at += interval/2 + time.Duration(s.rand.Int64N(int64(interval)))
		if err := s.sample(at); err != nil {
			return err
		}
	}
	return sink.Finish(sampledata.End{Cause: sampledata.EndDuration, Time: at + interval})
}

// A server simulates the recorded program.
type server struct {
	sink     sampledata.Sink
	rand     *rand.Rand
	stacks   [classes][]sampledata.NodeID
	starts   [classes]sampledata.FunctionID
	labels   []sampledata.LabelSetID
	lastGoid int64

	running [processors]sampledata.GoroutineID
	all     []goroutine
	changes []sampledata.Change
}

type goroutine struct {
	id    sampledata.GoroutineID
	class int
}

func newServer(sink sampledata.Sink) *server {
	s := &server{sink: sink, rand: rand.New(rand.NewPCG(1, 2))}
	for p := range s.running {
		s.running[p] = sampledata.IdleProcessor
	}
	shared := make([]sampledata.FunctionID, 2000)
	for i := range shared {
		pkg := fmt.Sprintf("pkg%d", i%packages)
		shared[i] = sink.Function(sampledata.Function{
			Name: fmt.Sprintf("%s.f%d", pkg, i), File: fmt.Sprintf("/src/%s/file%d.go", pkg, i%7),
			Line: int32(10 + i),
		})
	}
	for c := range classes {
		s.starts[c] = sink.Function(sampledata.Function{Name: fmt.Sprintf("main.worker%d", c),
			File: "/src/main.go", Line: int32(100 * c)})
		top := sink.Node(sampledata.Node{Parent: sampledata.NoStack, Function: s.starts[c],
			Line: int32(100*c + 1)})
		path := []sampledata.NodeID{top}
		for range sites {
			path = path[:1+s.rand.IntN(len(path))]
			for len(path) < depth && s.rand.IntN(20) > 0 {
				path = append(path, sink.Node(sampledata.Node{
					Parent: path[len(path)-1], Function: shared[s.rand.IntN(len(shared))],
					Line: int32(10 + s.rand.IntN(5000)), Inlined: s.rand.IntN(4) == 0,
				}))
			}
			s.stacks[c] = append(s.stacks[c], path[len(path)-1])
		}
	}
	for _, route := range []string{"/", "/api/list", "/api/item", "/static"} {
		s.labels = append(s.labels, sink.LabelSet([]sampledata.Label{{Key: "route", Value: route}}))
	}
	return s
}

// spawn starts a goroutine.
func (s *server) spawn() {
	s.lastGoid += 1 + s.rand.Int64N(20)
	c := s.rand.IntN(classes)
	g := goroutine{class: c, id: s.sink.Goroutine(sampledata.Goroutine{
		ID: s.lastGoid, Start: s.starts[c], Parent: 1,
		Site: sampledata.Site{Function: "main.main", File: "/src/main.go", Line: int32(20 + c)},
	})}
	s.all = append(s.all, g)
	s.change(g)
}

// change puts a goroutine into another state.
func (s *server) change(g goroutine) {
	for p, r := range s.running {
		if r == g.id {
			s.running[p] = sampledata.IdleProcessor
		}
	}
	state := sampledata.State{Stack: s.stacks[g.class][s.rand.IntN(sites)],
		Labels: s.labels[g.class%len(s.labels)]}
	free := -1
	for p, r := range s.running {
		if r < 0 {
			free = p
		}
	}
	switch n := s.rand.IntN(10); {
	case free >= 0:
		state.Run = sampledata.Running
		s.running[free] = g.id
	case n < 3:
		state.Run = sampledata.Runnable
	case n < 5:
		lock := s.rand.IntN(10)
		state.Run, state.Reason, state.Lock = sampledata.Blocked, "sync.Mutex.Lock",
			0xc000100000+uint64(lock)*0x40
		state.Holders, state.Evidence = s.sink.HolderSet([]sampledata.GoroutineID{s.all[lock%len(s.all)].id}), sampledata.Inferred
	default:
		state.Run = sampledata.Waiting
		state.Reason = []string{"IO wait", "chan receive", "select", "sleep",
			"sync.WaitGroup.Wait"}[n-5]
	}
	s.changes = append(s.changes, sampledata.Change{Goroutine: g.id, State: state})
}

// step changes the given share of the goroutines. It ends a
// tenth of these, and starts as many new ones.
func (s *server) step(share float64) {
	n := min(len(s.all), max(1, int(share*float64(len(s.all)))))
	for i := range n {
		// A changed goroutine moves to the front, so that none changes twice.
		k := i + s.rand.IntN(len(s.all)-i)
		s.all[i], s.all[k] = s.all[k], s.all[i]
		if i%10 == 9 {
			s.end(i)
		} else {
			s.change(s.all[i])
		}
	}
}

// end ends a goroutine and starts a new one in its place.
func (s *server) end(i int) {
	old := s.all[i].id
	for p, r := range s.running {
		if r == old {
			s.running[p] = sampledata.IdleProcessor
		}
	}
	s.changes = append(s.changes, sampledata.Change{Goroutine: old, Gone: true})
	s.spawn()
	last := len(s.all) - 1
	s.all[i] = s.all[last]
	s.all = s.all[:last]
}

func (s *server) sample(at time.Duration) error {
	reused := int32(max(0, len(s.all)-len(s.changes)))
	err := s.sink.Sample(sampledata.Sample{
		Time: at, Halt: 150*time.Microsecond +
			time.Duration(s.rand.Int64N(int64(100*time.Microsecond))),
		Processors: s.running[:], Threads: 12, Missed: int32(s.rand.IntN(50) / 49),
		SamplerCPU: 300 * time.Microsecond,
		Reused:     reused, Rechecked: min(1, reused),
	}, s.changes)
	s.changes = s.changes[:0]
	return err
}
