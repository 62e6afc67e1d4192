package views

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// idleOptions are the roles of a few functions.
func idleOptions() Options {
	return Options{
		LeaveOutIdle: true,
		Wrapper:      func(f string) bool { return strings.HasPrefix(f, "pool.") },
		Role: func(f string) Role {
			switch {
			case f == "net.accept", f == "net.(*netFD).readFrom":
				return IdleRole
			case f == "main.fanIn":
				return BusyRole
			case slices.Contains([]string{"net.Read", "bufio.Peek", "runtime.gopark", "runtime.selectgo"}, f), strings.HasPrefix(f, "runtime."),
				strings.HasPrefix(f, "internal/poll."):
				return AnyRole
			}
			return OtherRole
		},
	}
}

// TestIdle checks what a goroutine does that comes back again
// and again. Its stacks are "waits" and "works" in turn.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		waits, reason, works string
		want                 bool
	}{
		{"http.Serve net.accept runtime.gopark", "IO wait", "http.Serve", true},
		{"main.serve main.handle db.Query net.Read runtime.gopark", "IO wait", "main.serve", false},
		{"main.loop net.Read runtime.gopark", "IO wait", "main.loop main.handle", true},
		{"main.loop net.Write runtime.gopark", "IO wait", "main.loop main.handle", false},
		{"main.watch runtime.selectgo runtime.gopark", "select", "main.watch main.work", true},
		{"main.watch runtime.gopark", "chan send", "main.watch main.work", false},
		{"main.watch runtime.gopark", "semacquire", "main.watch main.work", false},
		{"main.loop net.Read internal/poll.(*FD).readLock runtime.gopark", "semacquire", "main.loop main.handle", true}, // others read, too
		{"main.loop net.Write internal/poll.(*FD).writeLock runtime.gopark", "semacquire", "main.loop main.handle", false},
		{"main.watch runtime.gopark", "sync.WaitGroup.Wait", "main.watch main.work", false},
		{"main.deep main.watch runtime.gopark", "select", "main.deep main.watch main.work", true}, // a loop further down
		{"main.deep main.watch runtime.gopark", "IO wait", "main.deep main.watch main.work", false},
		{"main.client main.get runtime.gopark", "sleep", "main.client main.query", false}, // a retry
		{"main.client main.get runtime.gopark", "chan receive", "main.client", false},
		{"main.client net/http.get runtime.gopark", "select", "main.client net/http.get net/http.read", false},                       // of the standard library
		{"net/http.serve main.handle main.watch runtime.gopark", "select", "net/http.serve main.handle main.watch main.work", false}, // a handler
		{"main.main.func2 main.watch runtime.gopark", "select", "main.main.func2 main.watch main.work", true},
		{"net/http.serve bufio.Peek net/http.(*connReader).Read wg/lib.Read runtime.gopark", "select", "net/http.serve main.handle", true}, // any connection
		{"net/http.readLoop bufio.Peek net/http.(*persistConn).Read main.(*conn).Read runtime.gopark", "IO wait", "net/http.readLoop net/http.send", true},
		{"net/http.(*connReader).backgroundRead main.(*conn).Read runtime.gopark", "IO wait", "net/http.(*connReader).backgroundRead", true},
		{"net/http.serve main.handle net/http.(*connReader).Read wg/lib.Read runtime.gopark", "select", "net/http.serve", false},
		{"main.main.func2.1 main.watch runtime.gopark", "select", "main.main.func2.1 main.watch main.work", true},
		{"main.main.func2 main.receive runtime.gopark", "chan receive", "main.main.func2 main.handle", true}, // the closure is the loop
		{"main.main.func2 main.publish runtime.gopark", "sleep", "main.main.func2 main.fetch", false},
		{"pool.run pool.run.func1 main.watch runtime.gopark", "chan receive", "pool.run pool.run.func1 main.watch main.work", true},
		{"runtime.main main.main runtime.gopark", "sleep", "runtime.main main.main main.work", true},
		{"runtime.main main.main main.run runtime.gopark", "select (no cases)", "runtime.main main.main", false},
		{"main.fanIn runtime.gopark", "chan receive", "main.fanIn main.work", false},
		{"runtime.bgsweep runtime.gopark", "GC sweep wait", "runtime.bgsweep", true},
		{"runtime.main runtime.gopark", "GC sweep wait", "runtime.main main.work", false},
	} {
		s := newSketch(t)
		g := s.goroutine("f")
		waits := sampledata.State{Stack: stackOf(s.Builder, append([]string{bootstrap}, strings.Fields(c.waits)...)...), Run: sampledata.Waiting, Reason: c.reason}
		works := sampledata.State{Stack: stackOf(s.Builder, append([]string{bootstrap}, strings.Fields(c.works)...)...), Run: sampledata.Running}
		for range 4 {
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: waits})
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: works})
		}
		r := s.Recording()
		if got := newIdleness(r, idleOptions()).has(r.Runs.At(0)); got != c.want {
			t.Errorf("%s, %s: idle: %v, want %v", c.waits, c.reason, got, c.want)
		}
	}
}

// Who sleeps is not idle because the outer frames are missing,
// which would make it the runtime's.
func TestIdleTorn(t *testing.T) {
	s := newSketch(t)
	g := s.goroutine("main.work")
	for _, frames := range []string{"runtime.gopark", "net.accept runtime.gopark"} {
		s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Torn: true, Run: sampledata.Waiting, Reason: "sleep",
			Stack: stackOf(s.Builder, strings.Fields(frames)...)}})
	}
	r := s.Recording()
	d := newIdleness(r, idleOptions())
	if d.has(r.Runs.At(0)) || !d.has(r.Runs.At(1)) {
		t.Errorf("idle: %v, in accept: %v", d.has(r.Runs.At(0)), d.has(r.Runs.At(1)))
	}
}

// A crowd is goroutines that are not all alike.
type crowd struct {
	samples func(at func(reason string, frames ...string) sampledata.State) []states
	idle    string // the goroutines that are idle in their first run
}

// states has the states of goroutines. One without a state is gone.
type states map[string]sampledata.State

func ofWorker(frames ...string) []string {
	return append([]string{bootstrap, "main.worker"}, frames...)
}

// TestHomes checks who is at home if goroutines are not all alike.
func TestHomes(t *testing.T) {
	for name, c := range map[string]crowd{
		"nobody has left: they have not moved": {func(at func(string, ...string) sampledata.State) []states {
			waits := at("chan receive", ofWorker()...)
			return []states{{"a": waits, "b": waits}, {}, {}}
		}, ""},
		"another one has left": {func(at func(string, ...string) sampledata.State) []states {
			waits := at("chan receive", ofWorker()...)
			return []states{{"a": waits, "b": waits}, {"b": at("", ofWorker("main.handle")...)}, {}}
		}, "a b"},
		"a dump shows another one at work": {func(at func(string, ...string) sampledata.State) []states {
			return []states{{"a": at("select", ofWorker()...), "b": at("", ofWorker("main.handle")...)}}
		}, "a"},
		"each lives for one piece of work": {func(at func(string, ...string) sampledata.State) []states {
			waits, works := at("chan receive", ofWorker()...), at("", ofWorker("main.reply")...)
			return []states{{"a": waits, "b": waits}, {"a": works, "b": works}, {"a": {}, "b": {}, "c": waits}, {"c": works}, {"c": {}}, {}}
		}, ""},
		"it came, and has not left": {func(at func(string, ...string) sampledata.State) []states {
			return []states{{"a": at("", ofWorker("main.setUp")...)}, {"a": at("chan receive", ofWorker()...)}, {}}
		}, ""},
	} {
		t.Run(name, c.check)
	}
}

// TestSteps checks what a sleep below a worker's first function is.
func TestSteps(t *testing.T) {
	for name, c := range map[string]crowd{
		"another one is a step further in the same work": {func(at func(string, ...string) sampledata.State) []states {
			sleeps, tries := at("sleep", ofWorker("main.insert", "main.acquire")...), at("", ofWorker("main.insert", "main.acquire")...)
			queries := at("IO wait", ofWorker("main.insert", "main.query")...)
			list := []states{{"a": sleeps, "b": queries}}
			for range 4 {
				list = append(list, states{"a": tries}, states{"a": sleeps})
			}
			return list
		}, ""},
		"another one was in a step before": {func(at func(string, ...string) sampledata.State) []states {
			sleeps, works := at("sleep", ofWorker("main.run", "main.loop")...), at("", ofWorker("main.run", "main.loop", "main.work")...)
			list := []states{{"b": at("", ofWorker("main.run", "main.setUp")...)}, {"a": sleeps, "b": sleeps}}
			for range 4 {
				list = append(list, states{"a": works}, states{"a": sleeps})
			}
			return list
		}, "a"},
	} {
		t.Run(name, c.check)
	}
}

// TestIntakes checks whether a select is for the next piece of
// work, in what a loop calls: each digit is how many of four
// goroutines are at work in a sample. The others wait.
func TestIntakes(t *testing.T) {
	for _, c := range []struct {
		call   string // with its line in the loop
		work   string
		idle   bool
		others string // who calls it, too
	}{
		{"5 main.(*queue).next", "22222222222222", true, ""},
		{"5 main.(*queue).get", "01234321024013", true, ""},
		{"5 main.(*pool).nextConn", "22222222222222", false, ""}, // others have all that there are
		{"5 main.(*pool).get", "22222222222222", false, ""},
		{"5 main.(*pool).get", "22222222222212", false, ""},
		{"5 main.(*pool).get", "22333233223322", false, ""},            // nor does anybody wait alone
		{"9 main.(*queue).next", "01234321024013", false, ""},          // after its work
		{"5 main.(*pool).get", "01234321024013", false, "main.report"}, // they may have it
		{"5 main.(*limiter).pace", "01234321024013", false, ""},
		{"5 lib.(*client).next", "01234321024013", false, ""}, // it may do more than wait
	} {
		line, call, _ := strings.Cut(c.call, " ")
		worker := crowd{samples: func(at func(string, ...string) sampledata.State) (list []states) {
			waits := at("select", bootstrap, "main.worker:"+line, call)
			works := at("", bootstrap, "main.worker:7", "main.deliver")
			for i, n := range c.work {
				now := make(states)
				for k, g := range []string{"a", "b", "c", "d"} {
					now[g] = waits
					if (k+i)%4 < int(n-'0') {
						now[g] = works
					}
				}
				if c.others != "" {
					now["e"] = at("", bootstrap, c.others, call)
				}
				list = append(list, now)
			}
			return append([]states{{"a": waits, "b": waits, "c": waits, "d": waits}}, list...)
		}}
		if c.idle {
			worker.idle = "a b c d"
		}
		t.Run(c.call+" "+c.work, worker.check)
	}
}

func (c crowd) check(t *testing.T) {
	s := newSketch(t)
	ids := make(map[string]sampledata.GoroutineID)
	at := func(reason string, frames ...string) sampledata.State {
		state := sampledata.State{Stack: stackOf(s.Builder, frames...), Run: sampledata.Waiting, Reason: reason}
		if reason == "" {
			state.Run = sampledata.Running
		}
		return state
	}
	for _, now := range c.samples(at) {
		changes := make(map[sampledata.GoroutineID]sampledata.State)
		var gone []sampledata.GoroutineID
		for g, state := range now {
			if _, known := ids[g]; !known {
				ids[g] = s.goroutine("main.worker")
			}
			if state == (sampledata.State{}) {
				gone = append(gone, ids[g])
				continue
			}
			changes[ids[g]] = state
		}
		s.sample(changes, gone...)
	}
	r := s.Recording()
	var idle []string
	seen := make(map[sampledata.GoroutineID]bool)
	has, _ := WaitsFor(r, idleOptions())
	for _, run := range r.Runs.All() {
		for g, id := range ids {
			if id == run.Goroutine && has(run) && !seen[id] {
				idle = append(idle, g)
			}
		}
		seen[run.Goroutine] = true
	}
	slices.Sort(idle)
	if got := strings.Join(idle, " "); got != c.idle {
		t.Errorf("idle are %q, want %q", got, c.idle)
	}
}

// TestRequests checks what a read deep in a goroutine is: a
// request if the connection was accepted, and an answer if the
// goroutine writes and reads in one call.
func TestRequests(t *testing.T) {
	const read, write = " net.Read runtime.gopark", " net.(*conn).Write internal/poll.(*FD).Write"
	for _, c := range []struct {
		site, reads, works, writes string
		want                       bool
	}{
		{"main.listen", "main.serve main.command" + read, "main.serve main.handle", "main.serve main.reply" + write, true},
		{"main.listen", "main.serve main.next main.command" + read, "main.serve main.handle", "main.serve main.reply" + write, false},
		{"main.main", "main.serve main.command" + read, "main.serve main.handle", "main.serve main.reply" + write, false},
		{"main.listen", "main.serve main.ask" + read, "main.serve main.handle", "main.serve main.ask" + write, false},
		{"main.listen", "main.serve main.handle main.ask" + read, "main.serve main.handle", "main.serve main.reply" + write, false},
		{"main.listen", "main.serve main.command" + read, "main.serve main.handle main.ask" + read, "main.serve main.reply" + write, true},
		{"main.listen", "main.serve main.ask" + read, "main.serve" + read, "main.serve main.reply" + write, false},
	} {
		s := newSketch(t)
		listener := s.goroutine("main.listen")
		g := s.Goroutine(sampledata.Goroutine{Site: sampledata.Site{Function: c.site}})
		at := func(state sampledata.State, stack string) sampledata.State {
			state.Stack = stackOf(s.Builder, append([]string{bootstrap}, strings.Fields(stack)...)...)
			return state
		}
		waits := sampledata.State{Run: sampledata.Waiting, Reason: "IO wait"}
		works := sampledata.State{Run: sampledata.Running}
		if strings.HasSuffix(c.works, read) {
			works = waits
		}
		accepts := at(waits, "main.listen net.accept runtime.gopark")
		for range 4 {
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: at(waits, c.reads), listener: accepts})
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: at(works, c.works)})
			s.sample(map[sampledata.GoroutineID]sampledata.State{g: at(sampledata.State{Run: sampledata.Running}, c.writes)})
		}
		r := s.Recording()
		idle, reads := newIdleness(r, idleOptions()), at(waits, c.reads).Stack
		for _, run := range r.Runs.All() {
			if run.Stack == reads && idle.has(run) != c.want {
				t.Errorf("%s, started in %s: idle: %v, want %v", c.reads, c.site, !c.want, c.want)
				break
			}
		}
	}
}

// TestExchanges checks what a read is by the lines of one
// function, and if sleeping there is idle: "r3 s5 w8" reads in
// line 3, sleeps in line 5 and writes in line 8; "d" reads a
// datagram. A number before them is how often that is seen.
func TestExchanges(t *testing.T) {
	for _, c := range []struct{ seen, idle string }{
		{"4r3 4s5 4w8", "r3"},         // a server
		{"4w3 4r4 4s9", "s9"},         // a client that thinks
		{"1w1 4r3 4s5 4w8", "r3"},     // a server that greets
		{"4r3 4w5 4r6 4s7 4w8", "r3"}, // a proxy
		{"4r3 4s5", "r3 s5"},          // nothing is written
		{"4d3 4w8", "d3"},             // datagrams of anybody
		{"4w3 4d4 4s9", "s9"},         // they are answers
	} {
		s := newSketch(t)
		g := s.goroutine("main.main")
		runs := make(map[string]sampledata.NodeID)
		for i := range 4 {
			for _, at := range strings.Fields(c.seen) {
				times, does := int(at[0]-'0'), at[1:]
				state := map[byte]sampledata.State{
					'r': {Run: sampledata.Waiting, Reason: "IO wait"}, 's': {Run: sampledata.Waiting, Reason: "sleep"},
					'w': {Run: sampledata.Running}, 'd': {Run: sampledata.Waiting, Reason: "IO wait"},
				}[does[0]]
				below := map[byte]string{'r': "net.Read", 's': "runtime.gopark", 'w': "net.(*conn).Write", 'd': "net.(*netFD).readFrom"}[does[0]]
				loop := s.Node(sampledata.Node{Parent: sampledata.NoStack, Line: int32(does[1] - '0'),
					Function: s.Function(sampledata.Function{Name: "main.loop"})})
				state.Stack = s.Node(sampledata.Node{Parent: loop, Function: s.Function(sampledata.Function{Name: below})})
				runs[does] = state.Stack
				if i < times {
					s.sample(map[sampledata.GoroutineID]sampledata.State{g: state})
				}
			}
		}
		var idle []string
		r := s.Recording()
		has, _ := WaitsFor(r, idleOptions())
		for _, does := range slices.Sorted(maps.Keys(runs)) {
			for _, run := range r.Runs.All() {
				if run.Stack == runs[does] && has(run) {
					idle = append(idle, does)
					break
				}
			}
		}
		if got := strings.Join(idle, " "); got != c.idle {
			t.Errorf("%s: idle are %q, want %q", c.seen, got, c.idle)
		}
	}
}

// TestAsks checks if two goroutines that wait for channels are
// idle, by the lines of one function: "2x3 8r5" computes in line
// 3, twice, and receives in line 5. Who receives from a new
// channel each time is "n", from a channel of its own "r", from
// a ticker "t", and "s" sends; "e" is "n" if it is known who may
// send. In a select, "n" is "m", "r" is "q", and "t" is "c". "Q"
// and "M" are in a function below: "Q" is "q", and "M" a channel
// of its own that "r" is not.
func TestAsks(t *testing.T) {
	for _, c := range []struct{ seen, idle string }{
		{"8x9 8r5", "r5"},         // a worker
		{"8x9 8n5", ""},           // an answer comes on a channel of its own
		{"8x9 8n5 8e5", ""},       // and who may send it changes during the wait
		{"8x9 8b5", ""},           // others wait for each of these channels, too, as at a barrier
		{"8s3 8r5", ""},           // it asks, and waits
		{"8s3 8t5", "t5"},         // it sends at times
		{"8s3 8c5", "c5"},         // the select may have a ticker
		{"8x9 8m5", ""},           // an answer comes on a channel of its own, unless a context is done
		{"8x9 8q5", "q5"},         // a worker that is stopped by a context
		{"8r5 8s9", "r5"},         // a stage
		{"8x3 8r5", "r5"},         // it does what is to be done, and waits for more
		{"2s3 8r5", "r5"},         // it says that it is there
		{"8s3 8r5 8r8 8x9", "r8"}, // of two waits, one is for work
		{"8x9 8r5 8Q6", "Q6 r5"},  // it collects what else comes
		{"8x9 8r5 8M6", "r5"},     // it asks somebody
	} {
		s := newSketch(t)
		both := []sampledata.GoroutineID{s.goroutine("main.main"), s.goroutine("main.main")}
		closure := stackOf(s.Builder, bootstrap, "main.main.func1")
		loop := func(line int) sampledata.NodeID {
			return s.Node(sampledata.Node{Parent: closure, Line: int32(line), Function: s.Function(sampledata.Function{Name: "main.loop"})})
		}
		stacks := make(map[string]sampledata.NodeID)
		for i := range 8 {
			for _, at := range strings.Fields(c.seen) {
				times, does := int(at[0]-'0'), at[1:]
				if i >= times {
					continue
				}
				now := make(map[sampledata.GoroutineID]sampledata.State)
				for k, g := range both {
					state := map[byte]sampledata.State{
						'x': {Run: sampledata.Running}, 's': {Run: sampledata.Waiting, Reason: "chan send"},
						'r': {Run: sampledata.Waiting, Reason: "chan receive", Lock: 0x100 + uint64(k)},
						'n': {Run: sampledata.Waiting, Reason: "chan receive", Lock: 0x1000 + uint64(2*i+k)},
						'e': {Run: sampledata.Waiting, Reason: "chan receive", Lock: 0x1000 + uint64(2*i+k), Evidence: sampledata.Ambiguous, Holders: s.HolderSet(both[:1])},
						'b': {Run: sampledata.Waiting, Reason: "select", Lock: 0x1000 + uint64(i)},
						't': {Run: sampledata.Waiting, Reason: "chan receive"},
						'c': {Run: sampledata.Waiting, Reason: "select"},
						'm': {Run: sampledata.Waiting, Reason: "select", Lock: 0x1000 + uint64(2*i+k)},
						'q': {Run: sampledata.Waiting, Reason: "select", Lock: 0x100 + uint64(k)},
						'Q': {Run: sampledata.Waiting, Reason: "select", Lock: 0x100 + uint64(k)},
						'M': {Run: sampledata.Waiting, Reason: "select", Lock: 0x200 + uint64(k)},
					}[does[0]]
					state.Stack = loop(int(does[1] - '0'))
					if strings.Contains("xQM", does[:1]) {
						state.Stack = s.Node(sampledata.Node{Parent: state.Stack, Function: s.Function(sampledata.Function{Name: "main.work"})})
					}
					stacks[does], now[g] = state.Stack, state
				}
				s.sample(now)
			}
		}
		var idle []string
		r := s.Recording()
		has, answers := WaitsFor(r, idleOptions())
		for _, does := range slices.Sorted(maps.Keys(stacks)) {
			for _, run := range r.Runs.All() {
				if run.Stack == stacks[does] && has(run) {
					idle = append(idle, does)
					break
				}
			}
			for _, run := range r.Runs.All() {
				if run.Stack == stacks[does] && has(run) && answers(run) {
					t.Errorf("%s: %s is idle and an answer", c.seen, does)
				}
			}
		}
		if got := strings.Join(idle, " "); got != c.idle {
			t.Errorf("%s: idle are %q, want %q", c.seen, got, c.idle)
		}
	}
}

// A goroutine has not moved if it waits with one stack in all
// samples, whoever may end the wait.
func TestHasNotMoved(t *testing.T) {
	s := newSketch(t)
	sends := sampledata.State{Stack: stackOf(s.Builder, "main.worker"), Run: sampledata.Waiting, Reason: "chan send"}
	other := sends
	other.Lock = 0x100
	group := sampledata.State{Stack: sends.Stack, Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait", Lock: 0x100}
	next := group
	next.Lock = 0x200
	stands, moves, comes := s.goroutine("a"), s.goroutine("b"), s.goroutine("c")
	joins, returns, pulls := s.goroutine("d"), s.goroutine("e"), s.goroutine("f")
	pulling := sends
	pulling.Reason = "coroutine" // what it waits in goes on
	s.sample(map[sampledata.GoroutineID]sampledata.State{stands: sends, moves: sends, joins: group, returns: sends, pulls: pulling})
	s.sample(map[sampledata.GoroutineID]sampledata.State{stands: other, comes: sends, joins: next, moves: {Stack: sends.Stack, Run: sampledata.Running}})
	s.sample(map[sampledata.GoroutineID]sampledata.State{moves: sends})
	again := []sampledata.Change{{Goroutine: returns, Again: true, State: sends}}
	fixture.Check(t, s.Sample(sampledata.Sample{Time: time.Hour}, again))
	still := HasNotMoved(s.Recording())
	if !still(stands) || still(moves) || still(comes) || still(joins) || still(returns) || still(pulls) {
		t.Errorf("not moved: %v %v %v %v %v %v, want only the first", still(stands), still(moves), still(comes), still(joins), still(returns), still(pulls))
	}
}

// TestIdleLeftOut checks that a Thread View and the sums of its
// class lack waiting for work, unless there is nothing else.
func TestIdleLeftOut(t *testing.T) {
	s := newSketch(t)
	a, b := s.goroutine("a"), s.goroutine("b")
	waits := func(frames ...string) sampledata.State {
		return sampledata.State{Stack: stackOf(s.Builder, frames...), Run: sampledata.Waiting, Reason: "select"}
	}
	runs := sampledata.State{Stack: stackOf(s.Builder, "main.loop"), Run: sampledata.Running}
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: waits("main.loop", "runtime.gopark"), b: waits("main.loop", "runtime.gopark")})
	s.sample(nil)
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: waits("main.loop", "main.ask", "runtime.gopark")})
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: runs})
	r := s.Recording()
	o := idleOptions()
	v := thread(t, r, "go:a", o)
	compareHits(t, "a", hitsOf(v.Tree), map[string]string{
		"go:a\nmain.loop\n:RUN": "1",
		"go:a\nmain.loop\nmain.ask\nruntime.gopark\n:WAIT\n:select": "1",
	})
	if share := v.IdleShare(); share.Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("the view lacks %v, want a half", share)
	}
	if v := thread(t, r, "go:b", o); v.IdleShare().Sign() != 0 || v.Tree.Main().Hits().Denominator.Cmp(big.NewRat(4, 1)) != 0 {
		t.Errorf("a class that only waits for work has %v hits, and lacks %v", v.Tree.Main().Hits().Denominator, v.IdleShare())
	}
	classes := fixture.Must(Classes(r, o))(t)
	if c := classes[0]; c.Class != "go:a" || c.Hits != 2 || c.Idle.Hits.Cmp(big.NewRat(2, 1)) != 0 || c.Shares()[Run].Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("a: %+v", c)
	}
	if c := classes[1]; c.Hits != 0 || c.Idle.Hits.Cmp(big.NewRat(4, 1)) != 0 || !c.OnlyIdle() || c.IdleShare().Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("b: %+v", c)
	}
}

// TestIdleIsTheRest checks for random recordings that leaving
// out waiting for work takes that and nothing else from views
// and sums.
func TestIdleIsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, with := drawRecording(t), drawOptions(t)
		salt := rapid.IntRange(0, 3).Draw(t, "salt")
		with.Role = func(f string) Role { return Role((len(f) + salt) % 4) }
		without := with
		without.LeaveOutIdle = true
		all := fixture.Must(Classes(r, with))(t)
		rest := fixture.Must(Classes(r, without))(t)
		for _, c := range all {
			i := slices.IndexFunc(rest, func(d ClassSummary) bool { return d.Class == c.Class })
			d := rest[i]
			work := calltree.Total{Weight: c.Time, Hits: big.NewRat(c.Hits, 1)}.Minus(c.Idle)
			if d.Idle.Hits.Cmp(c.Idle.Hits) != 0 || d.Idle.Weight.Cmp(c.Idle.Weight) != 0 || d.Time.Cmp(work.Weight) != 0 ||
				d.HitParts.total().Cmp(work.Hits) != 0 || d.total().Cmp(d.Time) != 0 || big.NewRat(d.Hits, 1).Cmp(work.Hits) != 0 || d.IdleShare().Cmp(c.IdleShare()) != 0 || d.OnlyIdle() != c.OnlyIdle() {
				t.Fatalf("%+v, and without idle %+v", c, d)
			}
			v := fixture.Must(Thread(r, c.Class, without))(t)
			if d.Hits > 0 && (v.Tree.Main().Denominator.Cmp(d.Time) != 0 || v.IdleShare().Cmp(d.IdleShare()) != 0) {
				t.Fatalf("%s: the view has %v ns and lacks %v, the sums have %v and lack %v", c.Class, v.Tree.Main().Denominator, v.IdleShare(), d.Time, d.IdleShare())
			}
		}
	})
}

// What is closed over by a function belongs to it, however deep;
// what a variable of a package has stands alone.
func TestEnclosing(t *testing.T) {
	for _, test := range []struct{ function, want string }{
		{"main.f", "main.f"},
		{"main.(*server).run.func1", "main.(*server).run"},
		{"main.main.func1.2.1", "main.main"},
		{"main.f-range1", "main.f"},
		{"main.f.func2-range1", "main.f"},
		{"main.init.0.func1", "main.init.0"},
		{"main.init.func1", "main.init.func1"},
		{"main.init.func1.2", "main.init.func1"},
		{"main.glob..func3.1", "main.glob..func3"},
		{"main.init.func1-range1", "main.init.func1"},
		{"example.com/a.b/lib.init.func2.1", "example.com/a.b/lib.init.func2"},
		{"main.(*server).init.func1", "main.(*server).init"},
		{"main.server.init.func1.2", "main.server.init"},
	} {
		if got := Enclosing(test.function); got != test.want {
			t.Errorf("Enclosing(%q) = %q, want %q", test.function, got, test.want)
		}
	}
}
