//go:build linux

package main

import (
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

// A bench has what the attempts need: a folder, and the paths of
// the two programs.
type bench struct{ dir, cpprof, victim string }

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
	args := append([]string{"-dir", dir}, h.kinds[rand.IntN(len(h.kinds))]...)
	v, err := start(exec.Command(b.victim, args...))
	if err != nil {
		return outcome{harm: err}
	}
	defer v.kill()
	v.alike = func() (*victim, error) { return start(exec.Command(b.victim, args...)) }
	r, err := b.record(h, v, filepath.Join(dir, "run.cpprof"))
	if err != nil {
		return outcome{skipped: err}
	}
	defer r.end(syscall.SIGKILL)
	quiet := make(chan bool)
	var feeding sync.WaitGroup
	if !h.silent {
		feeding.Go(func() { v.feed(quiet) })
	}
	o.times, o.harm = h.happen(v, r)
	close(quiet)
	feeding.Wait()
	r.end(syscall.SIGKILL) // it runs only if there was harm
	o.harm = errors.Join(o.harm, r.crashed(), h.after(v))
	if o.harm != nil {
		o.harm = fmt.Errorf("%w\ncpprof said:\n%s", o.harm, &r.said)
	}
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

// tryFullDisk has cpprof launch a program, and record it on a
// disk that is soon full. The program must go on, and what was
// written must be readable.
func (b *bench) tryFullDisk(dir string) (o outcome) {
	const script = `mount -t tmpfs -o size=32k tmpfs "$0" && echo mounted >&2 && exec "$@"`
	run := []string{b.victim, "-busy=2", "-threads=100"}
	args := []string{"--user", "--map-root-user", "--mount", "sh", "-c", script, dir, b.cpprof, "record", "-o", filepath.Join(dir, "run.cpprof")}
	v, err := start(exec.Command("unshare", append(append(append(args, eager...), "--"), run...)...))
	if err != nil && !strings.Contains(v.saying(), "mounted") {
		return outcome{skipped: fmt.Errorf("a small disk needs a mount namespace: %w", err)}
	}
	defer v.kill()
	v.alike = func() (*victim, error) { return start(exec.Command(run[0], run[1:]...)) }
	var launched int
	o.harm = v.awaitFor(5**patience, "cpprof says that the disk is full", func() bool { // samples are few on a busy machine
		_, rest, _ := strings.Cut(v.saying(), "continues as process ")
		n, _ := fmt.Sscanf(rest, "%d", &launched)
		return n == 1
	})
	if o.harm != nil {
		return o
	}
	o.times = 1
	v.pid = func() int { return launched }
	quiet := make(chan bool)
	time.AfterFunc(300*time.Millisecond, func() { close(quiet) })
	v.feed(quiet)
	o.harm = v.lives()
	o.count(v)
	o.read(filepath.Join(fmt.Sprintf("/proc/%d/root", launched), dir, "run*.cpprof")) // only the program's namespace has the disk
	// There may be no samples: what a recording begins with may
	// fill the disk.
	return o
}
