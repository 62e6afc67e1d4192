//go:build linux

package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"
)

// A hardship is something dangerous that happens while a program is recorded.
type hardship struct {
	name string

	// kinds are sets of arguments of the program. Each attempt
	// takes one set, and adds -dir.
	kinds [][]string

	// happen returns how many times the hardship happened, and
	// what harm it found.
	happen  func(v *victim, r *recorder) (times int, harm error)
	command []string              // of cpprof; nil: record, as often as it can
	silent  bool                  // the program is sent nothing, because it may end at any time
	after   func(v *victim) error // finds harm when all is over
}

// The kinds of programs that live as long as they are let alone.
var lasting = [][]string{
	{},
	{"-threads=1000"},
	{"-parked=5000"},
	{"-busy=2", "-lockers=3"},
	{"-silent", "-busy=1"},
}

// The kinds of programs that leave the machine to others.
var light = [][]string{{}, {"-parked=1000"}}

var hardships = []hardship{
	{name: "kill cpprof", kinds: lasting, happen: endWithin(800, syscall.SIGKILL), after: (*victim).lives},
	{name: "stop cpprof", kinds: lasting, happen: stopRecorder, after: (*victim).lives},
	{name: "suspend cpprof", kinds: lasting, happen: suspend, after: (*victim).lives},
	{name: "end cpprof", kinds: lasting, happen: endWithin(800, syscall.SIGTERM), after: (*victim).lives},
	{name: "end probes", kinds: lasting, happen: endProbes, command: []string{"probe", "main.*", "os.*"}, after: (*victim).unchanged},
	{name: "probes: time", kinds: light, command: []string{"probe", "main.*", "-d", "300ms"}, happen: endBy(), after: (*victim).unchanged},
	{name: "probes: SIGINT", kinds: light, command: probeMain, happen: endBy(syscall.SIGINT), after: (*victim).unchanged},
	{name: "probes: SIGTERM", kinds: light, command: probeMain, happen: endBy(syscall.SIGTERM), after: (*victim).unchanged},
	{name: "probes: SIGHUP", kinds: light, command: probeMain, happen: endBy(syscall.SIGHUP), after: (*victim).unchanged},
	{name: "probes: SIGQUIT", kinds: light, command: probeMain, happen: endBy(syscall.SIGQUIT), after: (*victim).unchanged},
	{name: "probes: SIGINT again", kinds: light, command: probeMain, happen: endBy(syscall.SIGINT, syscall.SIGINT, syscall.SIGINT), after: (*victim).unchanged},
	{name: "probes: SIGKILL", kinds: light, command: probeMain, happen: endBy(syscall.SIGKILL), after: (*victim).unchanged},
	{name: "probes: SIGKILL later", kinds: light, command: probeMain, happen: endBy(syscall.SIGINT, syscall.SIGKILL), after: (*victim).unchanged},
	{name: "why --probes", kinds: [][]string{{"-busy=1"}, {"-lockers=3"}}, command: []string{"why", "--probes"}, happen: endBy(syscall.SIGINT), after: (*victim).unchanged},
	{name: "stop the program", kinds: lasting, happen: stop, after: (*victim).lives},
	{name: "kill the program", kinds: lasting, silent: true, happen: kill, after: func(*victim) error { return nil }},
	{name: "exec", kinds: [][]string{{"-again=20ms"}, {"-again=100ms", "-threads=100"}, {"-again=300ms"}}, silent: true, happen: execute, after: (*victim).lives},
	{name: "crash", kinds: [][]string{{"-crash=300ms"}, {"-crash=800ms", "-threads=100"}}, silent: true, happen: endWithin(1500, syscall.SIGKILL), after: (*victim).crashed},
	{name: "thread churn", kinds: [][]string{{"-threads=3000"}}, happen: endWithin(800, syscall.SIGTERM), after: (*victim).lives},
	{name: "another cpprof", kinds: lasting, happen: recordTwice, after: (*victim).lives},
	{name: diskFull},
}

// diskFull has an attempt of its own: cpprof launches the program.
const diskFull = "disk full"

// pause waits for a random time of up to so many milliseconds.
func pause(most int) { time.Sleep(time.Duration(rand.IntN(most*1000)) * time.Microsecond) }

// anyEnd returns a signal that ends cpprof.
func anyEnd() syscall.Signal { return []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[rand.IntN(2)] }

// endWithin sends cpprof a signal at some time. If the program
// crashes, that is before, while or after it does.
func endWithin(milliseconds int, s syscall.Signal) func(*victim, *recorder) (int, error) {
	return func(_ *victim, r *recorder) (int, error) {
		pause(milliseconds)
		return 1, r.end(s)
	}
}

// recordTwice lets another cpprof record the program, too.
func recordTwice(v *victim, r *recorder) (n int, harm error) {
	if err := r.recordsFirst(); err != nil {
		return 0, err
	}
	other, err := r.another(v)
	if err != nil {
		return 0, err
	}
	if err := other.recordsFirst(); err != nil {
		return 0, errors.Join(err, other.end(syscall.SIGKILL))
	}
	pause(800)
	if err := errors.Join(r.end(syscall.SIGTERM), other.end(syscall.SIGTERM)); err != nil {
		return 1, err
	}
	return 1, errors.Join(r.toldOf(other), other.toldOf(r), other.crashed())
}

var probeMain = []string{"probe", "main.*"}

// endBy sends cpprof signals while its probes are in. Without a
// signal, the time ends.
func endBy(signals ...syscall.Signal) func(*victim, *recorder) (int, error) {
	return func(v *victim, r *recorder) (int, error) { return r.endWithProbes(v, signals) }
}

// endProbes ends cpprof while it puts probes in, has them in, or
// takes them out.
func endProbes(v *victim, r *recorder) (int, error) {
	ends := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL}
	rand.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	return r.endWithProbes(v, ends[:1+rand.IntN(3)])
}

// endWithProbes sends cpprof signals while its probes are in, and compares
// the code then.
func (r *recorder) endWithProbes(v *victim, signals []syscall.Signal) (int, error) {
	times := 0
	in := func() bool {
		if v.changed() != nil {
			times = 1
		}
		time.Sleep(10 * time.Millisecond) // to compare the code takes time from others
		return times > 0 || r.over()
	}
	if err := v.await("a probe is in the program", in); err != nil {
		return 0, err
	}
	if len(signals) > 0 {
		pause(300)
	}
	for _, s := range signals {
		r.cmd.Process.Signal(s)
		pause(30)
	}
	if err := r.ends(); err != nil || !r.cmd.ProcessState.Exited() {
		return times, err // the kernel takes out what a killed cpprof has in
	}
	return times, v.changed()
}

func kill(v *victim, r *recorder) (int, error) {
	pause(800)
	v.kill()
	return 1, r.ends()
}

// stopRecorder stops cpprof by a signal that it can't catch, so
// that threads of the program may stand still meanwhile. They go
// on when cpprof is continued or killed.
func stopRecorder(_ *victim, r *recorder) (n int, harm error) {
	for ; n < 10; n++ {
		pause(100)
		r.cmd.Process.Signal(syscall.SIGSTOP)
		pause(20)
		if n < 9 {
			r.cmd.Process.Signal(syscall.SIGCONT)
		}
	}
	if rand.IntN(2) == 0 {
		return n, r.end(syscall.SIGKILL)
	}
	r.cmd.Process.Signal(syscall.SIGCONT)
	return n, r.end(syscall.SIGTERM)
}

// suspend suspends cpprof, as Ctrl-Z does, and makes sure that
// no thread of the program is traced then. Until cpprof handles
// the signal, it would be lost if no shell is there to continue
// cpprof (an orphaned process group): so it comes after a first
// sample.
func suspend(v *victim, r *recorder) (n int, harm error) {
	if err := r.recordsFirst(); err != nil {
		return 0, err
	}
	for ; n < 25; n++ {
		pause(50)
		r.cmd.Process.Signal(syscall.SIGTSTP)
		suspended := func() bool { return r.over() || strings.HasPrefix(r.state(), "T") }
		if err := v.await("cpprof is suspended", suspended); err != nil {
			return n, errors.Join(err, errors.New(r.threads()))
		}
		for range 10 {
			if list := traced(v.pid()); list != "" && strings.HasPrefix(r.state(), "T") {
				return n, errors.New("threads are traced while cpprof is suspended:\n" + list)
			}
			time.Sleep(2 * time.Millisecond) // time for a thread with a pending stop to reach it
		}
		r.cmd.Process.Signal(syscall.SIGCONT)
	}
	return n, r.end(syscall.SIGTERM)
}

// stop stops and continues the program.
func stop(v *victim, r *recorder) (n int, harm error) {
	for ; n < 10; n++ {
		pause(100)
		syscall.Kill(v.pid(), syscall.SIGSTOP)
		pause(5)
		syscall.Kill(v.pid(), syscall.SIGCONT)
	}
	pause(50)
	return n, r.end(anyEnd())
}

// execute waits for the program to execute itself several times.
func execute(v *victim, r *recorder) (int, error) {
	first := v.begun.Load()
	pause(800)
	if err := r.end(anyEnd()); err != nil {
		return 0, err
	}
	before := v.begun.Load()
	err := v.await("the program executes itself again", func() bool { return v.begun.Load() > before+1 })
	return int(v.begun.Load() - first), err
}

// recordsFirst waits for the first bytes of the recording's samples.
func (r *recorder) recordsFirst() error {
	for end := time.Now().Add(*patience); !r.over() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if info, err := os.Stat(r.dir + "/SampleData"); err == nil && info.Size() > 0 {
			return nil
		}
	}
	return errors.New("cpprof does not begin to record")
}
