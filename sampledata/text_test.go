package sampledata

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestTextAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecording(t)
		var b bytes.Buffer
		fixture.Check(t, WriteText(&b, want))
		got, err := ReadText(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		equal(t, got, want)
	})
}

// Tests of other packages have text that was written by hand, so
// this test fixes its form.
const twoGoroutinesText = `cpprof recording 1
command ./server -addr :80
executable /srv/server
pid 4711
container 3f5c
go go1.26.1
os linux
arch amd64
gomaxprocs 2
start 2026-01-02T03:04:05.000000006Z
clock monotonic
sampler version=v1 backend=test rate=100 jitter=1 max-overhead=0.01 max-cpu=0.05 wakes="nice -15"
monitor m0 process.cpu counter layer=kernel unit=ns source=/proc/PID/stat resolution=10ms
monitor m1 load level layer=application real
monitor m2 gc.phase nominal layer=runtime
monitor m3 instructions counter layer=hardware unmeasured="no PMU: this is a virtual machine"
function f0 main.main file=main.go line=10
node n0 f0 line=12
function f1 main.work file=main.go line=20
node n1 f1 under=n0 line=21 inlined
goroutine g0 1 start=f0
goroutine g1 7 start=f1 site=main.main site-file=main.go site-line=12 parent=1
labels l1 job=7 route=/api
holders h1 g0
lock 0xc000 main.(*cache).mu
sample 10ms halt=150us processors=g0,idle
	g0 running n1
	g1 blocked n1 reason=sync.Mutex.Lock lock=0xc000 holders=h1 evidence=inferred labels=l1
	m0 value=9223372036854775809
	m1 value=0.5
	m2 value=off
lock 0xc000 main.mu from=1 capacity=3
sample 20ms halt=160us processors=g0,system
	m0 value=9223372036854775813
	m1 unmeasured
sample 30ms halt=150us processors=idle,g1
	g0 gone
	g1 running n1 no-cpu
	m0 value=7
	m1 value=+Inf
	m2 value=mark
warning torn-stack 5 "the first"
end exited time=40ms status=3
`

func TestTextForm(t *testing.T) {
	b := NewBuilder(testHeader())
	twoGoroutines(t, b)
	var got bytes.Buffer
	fixture.Check(t, WriteText(&got, b.Recording()))
	if got.String() != twoGoroutinesText {
		t.Errorf("got\n%s", &got)
	}
}

// People write comments, blank lines, other orders, and quotes
// that are not needed.
func TestTextByHand(t *testing.T) {
	got, err := ReadText(strings.NewReader(`cpprof recording 1
		# two states of one goroutine
		function f0 "main.main" line=7 file=main.go   # here

		node n0 f0
		goroutine g0 1
		sample 1ms processors=idle,g0 halt=0.1ms
		g0 running "n0"
		sample 1s
		g0 waiting - torn reason="chan receive"`))
	fixture.Check(t, err)
	want := NewBuilder(Header{})
	f := want.Function(Function{"main.main", "main.go", 7})
	n := want.Node(Node{Parent: NoStack, Function: f})
	g := want.Goroutine(Goroutine{ID: 1, Start: -1})
	_ = want.Sample(Sample{Time: 1e6, Halt: 1e5, Processors: []GoroutineID{-1, g}}, []Change{{Goroutine: g, State: State{Stack: n, Run: Running}}})
	_ = want.Sample(Sample{Time: 1e9}, []Change{{Goroutine: g, State: State{Stack: NoStack, Run: Waiting, Torn: true, Reason: "chan receive"}}})
	equal(t, got, want.Recording())
}

func TestTextErrors(t *testing.T) {
	const good = "cpprof recording 1\nfunction f0 f\nnode n0 f0\ngoroutine g0 1\nsample 5ms\n g0 running n0\n"
	const monitors = "monitor m0 x counter\nmonitor m1 y level real\nmonitor m2 z level unmeasured=no\n"
	tests := []struct{ text, want string }{
		{"", "line 1, column 1: want cpprof recording 1"},
		{"# only this", "line 1, column 1: want cpprof recording 1"},
		{"cpprof recording 2", "line 1, column 1: want cpprof recording 1"},
		{good + "sample", "line 7, column 7: a time is missing"},
		{good + "sample 1", `line 7, column 8: "1" is not a duration: want one such as 1.5ms`},
		{good + "sample 1ms", "line 7, column 1: sample 1: time 1ms is before that of the previous sample, 5ms"},
		{good + "sample 1ms\n", "line 7, column 1: sample 1: time 1ms is before that of the previous sample, 5ms"},
		{good + "sample 1ms\n\n\nend duration", "line 7, column 1: sample 1: time 1ms is before that of the previous sample, 5ms"},
		{good + "sample 6ms halt=1ms halt=2ms", `line 7, column 21: a second "halt"`},
		{good + "sample 6ms hatl=1ms", `line 7, column 12: unexpected "hatl": want collecting, cpu=, halt=, lost-halt=, missed=, processors=, rechecked=, reused=, stopped-world, suspended=, threads=, weight=, wrong=`},
		{good + "sample 6ms processors=idle,g1", "line 7, column 12: g1 has not been defined"},
		{good + "sample 6ms processors=g0\n g0 gone", "line 7, column 1: sample 1: processor 0 runs goroutine 0, which has no state"},
		{good + " g1 gone", "line 7, column 2: g1 has not been defined"},
		{good + " g0 gone n0", "line 7, column 10: nothing is expected here"},
		{good + " g0 gone", "line 5, column 1: sample 0: goroutine 0 changes twice in one sample"},
		{good + " g0 stuck n0", `line 7, column 5: unknown state "stuck": want one of unknown, running, detached, runnable, waiting, blocked`},
		{good + " g0 waiting n1", "line 7, column 13: n1 has not been defined"},
		{good + " g0 waiting n0 evidence=recorded", `line 7, column 2: holder set 0 with evidence "recorded": holders need evidence, and evidence holders`},
		{good + " g0 waiting n0 lock=here", `line 7, column 16: "here" is not an address: want a number such as 0xc000012080`},
		{good + "function f2 x", "line 7, column 10: f2, but f1 comes next"},
		{good + "function f1 f", "line 7, column 1: function 1 is the same as function 0"},
		{good + "function f1 \"f", "line 7, column 13: bad quoted string"},
		{good + "function f1 \"f\"\"g\"", "line 7, column 13: a blank is missing after this word"},
		{good + "function f1 line=3", "line 7, column 13: a name is missing before line="},
		{good + "function f1 g line=-3", "line 7, column 1: function 1: negative line -3"},
		{good + "function f1 g line=3000000000", `line 7, column 15: "3000000000" is not a 32-bit number`},
		{good + "node n1 f0 under=n1", "line 7, column 12: n1 has not been defined"},
		{good + "node n1 0", `line 7, column 9: "0" is not a code: want one such as f0`},
		{good + "labels l1 a", "line 7, column 11: want KEY=VALUE"},
		{good + "labels l1 a=1 a=2", `line 7, column 1: label keys "a" and "a" are not in ascending order`},
		{good + "lock 0x10 mu from=2", "line 7, column 1: name of the lock at 0x10: it begins at sample 2, but there are 1"},
		{good + "lock 0x10", "line 7, column 10: a name is missing"},
		{good + "monitor m1 x level", "line 7, column 9: m1, but m0 comes next"},
		{good + "monitor m0 x rate", `line 7, column 14: unknown kind "rate": want one of counter, level, nominal`},
		{good + "monitor m0 x level layer=top", `line 7, column 20: unknown layer "top": want one of application, sampled, runtime, kernel, hardware`},
		{good + "monitor m0 x nominal real", `line 7, column 1: monitor 0: nominal values are words, not floating-point numbers`},
		{good + monitors + "monitor m3 x level", `line 10, column 1: monitor 3: it has another definition already, as monitor 0`},
		{good + monitors + "monitor m3 x counter", `line 10, column 1: monitor 3 is the same as monitor 0`},
		{good + monitors + " m0 value=1", "line 10, column 2: a monitor's value without a sample above it"},
		{good + monitors + "sample 6ms\n m3 value=1", "line 11, column 2: m3 has not been defined"},
		{good + monitors + "sample 6ms\n m0 value=-1", `line 11, column 5: "-1" is not a value of x: strconv.ParseUint: parsing "-1": invalid syntax`},
		{good + monitors + "sample 6ms\n m1 value=NaN", `line 11, column 5: "NaN" is not a value of y: NaN is no value: leave out what was not measured`},
		{good + monitors + "sample 6ms\n m1", `line 11, column 2: want either value= or unmeasured`},
		{good + monitors + "sample 6ms\n m1 value=1 unmeasured", `line 11, column 2: want either value= or unmeasured`},
		{good + monitors + "sample 6ms\n m1 value=1\n m1 value=2", `line 12, column 2: a second value of y in one sample`},
		{good + monitors + "sample 6ms\n m2 value=1", `line 11, column 2: it has values, but is not measured: no`},
		{good + "pid 5", "line 7, column 1: pid is part of the header: put it before all other lines"},
		{good + "warning k 0 m", "line 7, column 1: want a kind, and a count from 1 up"},
		{good + "end exited\nsample 7ms", "line 8, column 1: nothing may follow the end"},
		{good + "ende", `line 7, column 1: unknown line "ende"`},
		{good + "=3", "line 7, column 1: a word is missing, or must be quoted"},
		{"cpprof recording 1\npid 1\npid 2", `line 3, column 1: a second "pid"`},
		{"cpprof recording 1\nsampler rate=NaN", "line 2, column 1: rate NaN is not a number from 0 up"},
		{"cpprof recording 1\nstart yesterday", `line 2, column 7: "yesterday" is not a time: want one such as 2026-01-02T03:04:05Z`},
		{"cpprof recording 1\ng0 gone", "line 2, column 1: a goroutine's state without a sample above it"},
	}
	for _, test := range tests {
		_, err := ReadText(strings.NewReader(test.text))
		if want := "read recording from text: " + test.want; err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", test.text, err, want)
		}
	}
}
