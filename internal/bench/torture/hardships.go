//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A bench has what the attempts need.
type bench struct{ dir, cpprof, victim string }

// A hardship is something dangerous that happens while a program is recorded.
type hardship struct {
	name   string
	args   []string // of the victim; its -dir is added
	silent bool     // the victim is sent nothing: it may end at any time
	happen func(v *victim, r *recorder) error
	after  func(v *victim) error // nil: the program must live
}

var hardships = []hardship{
	{name: "kill cpprof", args: []string{"-threads=500"}, happen: func(_ *victim, r *recorder) error {
		pause(800)
		return r.end(syscall.SIGKILL)
	}},
	{name: "suspend cpprof", happen: suspend},
	{name: "end cpprof", args: []string{"-parked=5000"}, happen: func(_ *victim, r *recorder) error {
		pause(800)
		return r.end(syscall.SIGTERM)
	}},
	{name: "stop the program", happen: stop},
	{name: "kill the program", silent: true, after: func(*victim) error { return nil }, happen: func(v *victim, r *recorder) error {
		pause(800)
		v.kill()
		return r.ends()
	}},
	{name: "exec", args: []string{"-again=60ms", "-threads=100"}, silent: true, happen: execute},
	{name: "crash", args: []string{"-crash=500ms"}, silent: true, after: (*victim).crashed, happen: func(v *victim, r *recorder) error {
		pause(1000)
		return r.end(syscall.SIGKILL)
	}},
	{name: diskFull},
}

// diskFull has an attempt of its own: cpprof launches the program.
const diskFull = "disk full"

// pause waits for a random time of up to so many milliseconds.
func pause(most int) { time.Sleep(time.Duration(rand.IntN(most*1000)) * time.Microsecond) }

// suspend suspends cpprof, as Ctrl-Z does, and makes sure that no thread of the program is traced then.
func suspend(v *victim, r *recorder) error {
	for range 5 {
		pause(150)
		r.cmd.Process.Signal(syscall.SIGTSTP)
		suspended := func() bool { return r.over() || strings.HasPrefix(r.state(), "T") }
		if err := v.await("cpprof is suspended", suspended); err != nil {
			return err
		}
		for range 10 {
			if list := traced(v.pid()); list != "" && strings.HasPrefix(r.state(), "T") {
				return errors.New("threads are traced while cpprof is suspended:\n" + list)
			}
			time.Sleep(2 * time.Millisecond) // time for a thread with a pending stop to reach it
		}
		r.cmd.Process.Signal(syscall.SIGCONT)
	}
	return r.end(syscall.SIGTERM)
}

// stop stops and continues the program.
func stop(v *victim, r *recorder) error {
	for range 10 {
		pause(100)
		syscall.Kill(v.pid(), syscall.SIGSTOP)
		pause(5)
		syscall.Kill(v.pid(), syscall.SIGCONT)
	}
	pause(50)
	return r.end([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[rand.IntN(2)])
}

// execute waits for the program to execute itself several times.
func execute(v *victim, r *recorder) error {
	pause(800)
	if err := r.end([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[rand.IntN(2)]); err != nil {
		return err
	}
	before := v.begun.Load()
	return v.await("the program executes itself again", func() bool { return v.begun.Load() > before+1 })
}

// try makes one attempt.
func (b *bench) try(h *hardship) (o outcome) {
	dir, err := os.MkdirTemp(b.dir, "")
	if err != nil {
		return outcome{skipped: err}
	}
	defer os.RemoveAll(dir)
	if h.name == diskFull {
		return b.tryFullDisk(dir)
	}
	v, err := start(exec.Command(b.victim, append([]string{"-dir", dir}, h.args...)...))
	if err != nil {
		return outcome{harm: err}
	}
	defer v.kill()
	r, err := b.record(v, filepath.Join(dir, "run.cpprof"))
	if err != nil {
		return outcome{skipped: err}
	}
	defer r.end(syscall.SIGKILL)
	quiet := make(chan bool)
	var feeding sync.WaitGroup
	if !h.silent {
		feeding.Go(func() { v.feed(quiet) })
	}
	o.harm = h.happen(v, r)
	close(quiet)
	feeding.Wait()
	after := h.after
	if after == nil {
		after = (*victim).lives
	}
	o.harm = errors.Join(o.harm, after(v))
	o.count(v)
	o.read(filepath.Join(dir, "run*.cpprof"))
	return o
}

// count adds what the program was sent, and what did not come back.
func (o *outcome) count(v *victim) {
	o.signals, o.bytes = v.sentSignals.Load(), v.sentBytes.Load()
	o.lostSignals, o.lostBytes = o.signals-v.backSignals.Load(), o.bytes-v.backBytes.Load()
}

// read opens the recordings.
func (o *outcome) read(pattern string) {
	found, _ := filepath.Glob(pattern)
	for _, dir := range found {
		if info, err := os.Stat(filepath.Join(dir, "SampleData")); err != nil || info.Size() == 0 {
			continue // ended before anything was written
		}
		r, err := sampledata.Open(dir)
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			o.unreadable++
			continue
		}
		o.samples += int64(r.Samples.Len())
	}
}

// A recorder is a running cpprof record.
type recorder struct {
	cmd *exec.Cmd
	ctx context.Context // done when cpprof has ended
}

// eager are the flags with which cpprof halts a program as often as it can.
var eager = []string{"--rate", "1000", "--max-overhead", "50%", "--max-cpu", "0"}

func (b *bench) record(v *victim, dir string) (*recorder, error) {
	args := append([]string{"record", "-o", dir, "--follow-exec", "-p", fmt.Sprint(v.pid())}, eager...)
	ctx, cancel := context.WithCancel(context.Background())
	r := &recorder{cmd: exec.Command(b.cpprof, args...), ctx: ctx}
	if err := r.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		r.cmd.Wait()
		cancel()
	}()
	return r, nil
}

func (r *recorder) over() bool { return r.ctx.Err() != nil }

// state returns the state of cpprof's process.
func (r *recorder) state() string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	return field(b, "State")
}

// end sends cpprof a signal, and waits for its end.
func (r *recorder) end(s os.Signal) error {
	r.cmd.Process.Signal(s)
	return r.ends()
}

func (r *recorder) ends() error {
	select {
	case <-r.ctx.Done():
		return nil
	case <-time.After(patience):
		r.cmd.Process.Kill()
		return errors.New("cpprof does not end")
	}
}

// tryFullDisk has cpprof launch a program, and record it on a disk that is soon full. The program must go on.
func (b *bench) tryFullDisk(dir string) (o outcome) {
	const script = `mount -t tmpfs -o size=64k tmpfs "$0" && echo mounted >&2 && exec "$@"`
	args := []string{"--user", "--map-root-user", "--mount", "sh", "-c", script, dir, b.cpprof, "record", "-o", filepath.Join(dir, "run.cpprof")}
	v, err := start(exec.Command("unshare", append(append(args, eager...), "--", b.victim, "-busy=3", "-threads=100")...))
	if err != nil && !strings.Contains(v.saying(), "mounted") {
		return outcome{skipped: fmt.Errorf("a small disk needs a mount namespace: %w", err)}
	}
	defer v.kill()
	var launched int
	o.harm = v.await("cpprof says that the disk is full", func() bool {
		_, rest, _ := strings.Cut(v.saying(), "continues as process ")
		n, _ := fmt.Sscanf(rest, "%d", &launched)
		return n == 1
	})
	if o.harm != nil {
		return o
	}
	v.pid = func() int { return launched }
	quiet := make(chan bool)
	time.AfterFunc(300*time.Millisecond, func() { close(quiet) })
	v.feed(quiet)
	o.harm = v.lives()
	o.count(v)
	return o
}
