package sampledata

import (
	"math"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// text draws a string, sometimes one that is difficult to quote.
var text = rapid.OneOf(
	rapid.SampledFrom([]string{"", "f", "main.work", "net/http.(*conn).serve", "main.F[go.shape.int]", "a b", `"`, "=", "#", "\xff\x00", "é\u2028", "g1", "-", "a=b,c"}),
	rapid.String(),
)

// drawRecording draws a recording with all kinds of content, using a Builder.
func drawRecording(t *rapid.T) *Recording {
	return drawBuilder(t).Recording()
}

func drawBuilder(t *rapid.T) *Builder {
	b := NewBuilder(drawHeader(t))
	d := drawer{t: t, b: b, alive: make(map[GoroutineID]bool)}
	n := rapid.IntRange(0, 12).Draw(t, "samples")
	for range n {
		d.names()
		for range max(0, rapid.IntRange(-5, 3).Draw(t, "probes")) {
			b.Probe(drawProbe(t))
		}
		if rapid.IntRange(0, 3).Draw(t, "calls") == 0 {
			b.Calls(drawCalls(t))
		}
		if rapid.IntRange(0, 3).Draw(t, "marking") == 0 {
			b.Mark(drawMarking(t))
		}
		d.sample()
	}
	d.names()
	for range rapid.IntRange(0, 3).Draw(t, "warnings") {
		b.Warn(text.Draw(t, "kind"), text.Draw(t, "message"), rapid.Int64Min(1).Draw(t, "count"))
	}
	if rapid.Bool().Draw(t, "ended") {
		err := b.Finish(End{
			Cause: EndCause(rapid.IntRange(0, int(EndFailed)).Draw(t, "cause")), Time: duration(t),
			ExitStatus: rapid.Int32().Draw(t, "status"), Detail: text.Draw(t, "detail"),
			Missed: rapid.Int32Min(0).Draw(t, "missed"), SamplerCPU: duration(t), LostHalt: duration(t),
		})
		fixture.Check(t, err)
	}
	return b
}

func drawHeader(t *rapid.T) Header {
	rate := rapid.Float64Range(0, 1e6)
	return Header{
		Command: rapid.SliceOfN(text, 0, 3).Draw(t, "command"), Executable: text.Draw(t, "executable"),
		PID: rapid.Int64Min(0).Draw(t, "pid"), Container: text.Draw(t, "container"), GoVersion: text.Draw(t, "go"), OS: text.Draw(t, "os"), Arch: text.Draw(t, "arch"),
		GOMAXPROCS: rapid.Int32Min(0).Draw(t, "gomaxprocs"),
		Start:      time.Unix(rapid.Int64Range(-1e9, 1e10).Draw(t, "start"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")),
		Clock:      text.Draw(t, "clock"),
		Sampler: Settings{
			Version: text.Draw(t, "version"), Backend: text.Draw(t, "backend"), RateHz: rate.Draw(t, "rate"),
			Jitter: rate.Draw(t, "jitter"), MaxOverhead: rate.Draw(t, "overhead"), MaxCPU: rate.Draw(t, "cpu"),
			Wakes: text.Draw(t, "wakes"),
		},
	}
}

func duration(t *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(1, 40).Draw(t, "bits")).Draw(t, "duration"))
}

type drawer struct {
	t     *rapid.T
	b     *Builder
	time  time.Duration
	alive map[GoroutineID]bool
}

func (d *drawer) index(name string, low, end int) int {
	return rapid.IntRange(low, end-1).Draw(d.t, name)
}

// names draws some functions, nodes, goroutines and sets.
func (d *drawer) names() {
	line := rapid.Int32Range(0, 3)
	for range d.index("functions", 0, 3) {
		name := text.Draw(d.t, "name")
		d.b.Function(Function{Name: "f" + name, File: text.Draw(d.t, "file"), Line: line.Draw(d.t, "line")})
	}
	functions := d.b.tables.functions
	if functions == 0 {
		return
	}
	for range d.index("nodes", 0, 4) {
		d.b.Node(Node{
			Parent: NodeID(d.index("parent", -1, d.b.tables.nodes)), Function: FunctionID(d.index("function", 0, functions)),
			Line: line.Draw(d.t, "line"), Inlined: rapid.Bool().Draw(d.t, "inlined"),
		})
	}
	for range d.index("goroutines", 0, 3) {
		d.b.Goroutine(Goroutine{
			ID: rapid.Int64().Draw(d.t, "id"), Start: FunctionID(d.index("start", -1, functions)),
			Site:   Site{text.Draw(d.t, "site function"), text.Draw(d.t, "site file"), line.Draw(d.t, "site line")},
			Parent: rapid.Int64().Draw(d.t, "parent"), System: rapid.Bool().Draw(d.t, "system"), GC: rapid.Bool().Draw(d.t, "gc"),
		})
	}
	var labels []Label
	for range d.index("labels", 0, 3) {
		labels = append(labels, Label{text.Draw(d.t, "key"), text.Draw(d.t, "value")})
	}
	d.b.LabelSet(labels)
	var holders []GoroutineID
	for g := range d.b.tables.goroutines {
		if rapid.Bool().Draw(d.t, "holds") {
			holders = append(holders, GoroutineID(g))
		}
	}
	d.b.HolderSet(holders)
	for range d.index("lock names", 0, 3) {
		n := LockName{
			Address: rapid.Uint64Range(0, 3).Draw(d.t, "address"), First: int32(d.index("first", 0, d.b.tables.samples+1)),
			Name: "l" + text.Draw(d.t, "lock name"),
		}
		if last, named := d.b.tables.byAddress[n.Address]; !named || n.First > last.First {
			d.b.LockName(n)
		}
	}
}

var number64 = rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 1<<63 - 1, 1 << 63, 1<<64 - 1, math.Float64bits(math.Copysign(0, -1)), math.Float64bits(math.Inf(-1))}), rapid.Uint64())

// series draws some monitors, and values for the next sample.
func (d *drawer) series() {
	for range d.index("monitors", 0, 3) {
		m := Monitor{
			Name: strconv.Itoa(len(d.b.tables.monitors.list)) + text.Draw(d.t, "name"), Layer: Layer(d.index("layer", 0, int(Hardware)+1)),
			Kind: Kind(d.index("kind", 0, int(Nominal)+1)), Unit: text.Draw(d.t, "unit"), Source: text.Draw(d.t, "source"),
			Resolution: text.Draw(d.t, "resolution"),
		}
		m.Real = m.Kind != Nominal && rapid.Bool().Draw(d.t, "real")
		if rapid.IntRange(0, 3).Draw(d.t, "missing") == 0 {
			m.Unmeasured = text.Draw(d.t, "unmeasured")
		}
		d.b.Monitor(m)
	}
	for i, m := range d.b.tables.monitors.list {
		bits := number64.Draw(d.t, "bits")
		var v Value
		switch {
		case m.Unmeasured != "" || rapid.IntRange(0, 3).Draw(d.t, "measured") == 0:
		case m.Kind == Nominal:
			v = Word(text.Draw(d.t, "word"))
		case m.Real:
			v = Real(math.Float64frombits(bits))
		case m.Kind == Counter:
			v = Count(bits)
		default:
			v = Number(int64(bits))
		}
		d.b.Measure(MonitorID(i), v)
	}
}

func (d *drawer) sample() {
	d.series()
	z := d.b.tables.sizes
	var changes []Change
	for g := range z.goroutines {
		g := GoroutineID(g)
		switch rapid.IntRange(0, 3).Draw(d.t, "what") {
		case 0:
			changes = append(changes, Change{Goroutine: g, Gone: true})
			d.alive[g] = false
		case 1:
			changes = append(changes, Change{Goroutine: g, State: d.state(z)})
			d.alive[g] = true
		case 2:
			if old, alive := d.b.state(g); alive {
				changes = append(changes, Change{Goroutine: g, Again: true, State: old})
			}
		}
	}
	s := Sample{
		Halt: duration(d.t), Threads: rapid.Int32Min(0).Draw(d.t, "threads"),
		StoppedWorld: rapid.Bool().Draw(d.t, "stopped"), Collecting: rapid.Bool().Draw(d.t, "collecting"),
		Missed: rapid.Int32Min(0).Draw(d.t, "missed"), SamplerCPU: duration(d.t), LostHalt: duration(d.t), Reused: rapid.Int32Min(0).Draw(d.t, "reused"),
	}
	s.Rechecked = rapid.Int32Range(0, s.Reused).Draw(d.t, "rechecked")
	s.Wrong = rapid.Int32Range(0, s.Rechecked).Draw(d.t, "wrong")
	if rapid.Bool().Draw(d.t, "explicit weight") {
		s.Weight = duration(d.t)
	}
	if rapid.Bool().Draw(d.t, "suspended") {
		s.Suspended = duration(d.t)
	}
	d.time += duration(d.t)
	s.Time = d.time
	for g := SystemProcessor; int(g) < z.goroutines; g++ {
		if (g < 0 || d.alive[g]) && rapid.Bool().Draw(d.t, "on a processor") {
			s.Processors = append(s.Processors, g)
		}
	}
	fixture.Check(d.t, d.b.Sample(s, changes))
}

func (d *drawer) state(z sizes) State {
	s := State{
		Stack: NodeID(d.index("stack", -1, z.nodes)), Run: RunState(d.index("run", 0, int(Blocked)+1)),
		Torn: rapid.Bool().Draw(d.t, "torn"), Priority: rapid.Int32().Draw(d.t, "priority"),
		Labels: LabelSetID(d.index("label set", 0, z.labelSets)), Holders: HolderSetID(d.index("holder set", 0, z.holderSets)),
		Reason: text.Draw(d.t, "reason"),
	}
	if s.Run == Running || s.Run == Detached {
		s.NoCPU = rapid.Bool().Draw(d.t, "no CPU")
	}
	if s.Run == Waiting || s.Run == Blocked {
		s.Release = ReleaseAt(NodeID(d.index("release", -1, z.nodes)))
	}
	if rapid.Bool().Draw(d.t, "locked") {
		s.Lock = rapid.Uint64().Draw(d.t, "lock")
	}
	if s.Holders > 0 {
		s.Evidence = Evidence(d.index("evidence", 1, int(Likely)+1))
	}
	return s
}

func drawCalls(t *rapid.T) CallTable {
	c := CallTable{
		Function: "f" + rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 1, -1).Draw(t, "function"),
		Source:   CallSource(rapid.IntRange(0, int(CallsByTrace)).Draw(t, "source")), Note: text.Draw(t, "note"),
		Arguments: []string{"n", "p.len"},
	}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		from := duration(t)
		c.Windows = append(c.Windows, CallWindow{from, from + duration(t)})
	}
	for range rapid.IntRange(0, 3).Draw(t, "timed calls") {
		begin := duration(t)
		c.Calls = append(c.Calls, TimedCall{
			Goroutine: rapid.Int64().Draw(t, "goroutine"), Begin: begin, End: begin + duration(t), CutBegin: rapid.Bool().Draw(t, "cut begin"),
			CutEnd: rapid.Bool().Draw(t, "cut end"), Label: text.Draw(t, "label"), Values: rapid.SliceOfN(rapid.Int64(), 2, 2).Draw(t, "values"),
			Site: Call{Function: text.Draw(t, "caller"), File: text.Draw(t, "file"), Line: rapid.Int32Min(0).Draw(t, "line")},
		})
	}
	return c
}
