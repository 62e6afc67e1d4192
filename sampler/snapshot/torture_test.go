//go:build torture && linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

var tortureFor = flag.Duration("torture", 30*time.Second, "how long the torture lasts")

// The test binary is a sampler if this variable is set, to a pid and a folder for recordings.
const tortureEnv = "CPPROF_TORTURE"

func init() {
	pid, dir, ok := strings.Cut(os.Getenv(tortureEnv), ":")
	if !ok {
		return
	}
	samplerMain = func() {
		n, _ := strconv.Atoi(pid)
		for k := 0; ; k++ {
			if !torment(n, filepath.Join(dir, strconv.Itoa(k))) {
				os.Exit(0)
			}
		}
	}
}

// torment records a process. It returns true when the process executes another program, and false when it ends.
func torment(pid int, dir string) bool {
	p, err := sampler.Find(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	b, err := Attach(p)
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	defer b.Close()
	w, err := sampledata.Create(dir, b.Header())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	r, err := sampler.Record(context.Background(), p, b, w, sampler.Options{Rate: 1000, Jitter: 1})
	if err != nil {
		fmt.Fprintln(os.Stderr, "a recording failed:", err)
	}
	return r.End.Cause == sampledata.EndExec
}

// totals count the events of the torture.
type totals struct {
	targets, samplers, killedSamplers, stops, execs, threads, crashes, kills, recordings, samples atomic.Int64
}

func (n *totals) String() string {
	return fmt.Sprintf("%d targets, which executed themselves %d times, made and ended %d threads, crashed %d times, were stopped and "+
		"continued %d times and killed %d times; %d samplers, of which %d were killed; %d recordings of %d samples",
		n.targets.Load(), n.execs.Load(), n.threads.Load(), n.crashes.Load(), n.stops.Load(), n.kills.Load(),
		n.samplers.Load(), n.killedSamplers.Load(), n.recordings.Load(), n.samples.Load())
}

// TestTorture samples targets in all situations that make sampling dangerous, with samplers that are killed at random
// moments. No target may end up stopped, traced, slower or dead, and every recording must be readable.
//
//	go test -v -tags torture -run Torture -timeout 2h ./sampler/snapshot -torture 1h
func TestTorture(t *testing.T) {
	path := build(t, "-ldflags=-w") // attaching is faster without reading DWARF, so that there are more halts
	kinds := map[string][]string{
		"exec":    {"-again=20ms", "-busy=1", "-threads=3"},
		"threads": {"-churn=1000", "-pairs=1"},
		"crash":   {"-busy=1"},
		"busy":    {"-busy=2", "-pairs=2", "-lockers=2", "-short=2", "-garbage"},
		"parked":  {"-parked=2000"},
	}
	var n totals
	end := time.Now().Add(*tortureFor)
	var lanes sync.WaitGroup
	for range 2 {
		lanes.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				for kind, args := range kinds {
					if kind == "crash" {
						args = append(slices.Clone(args), fmt.Sprintf("-crash=%dms", 100+rand.IntN(900)))
					}
					if err := torture(t, &n, path, kind, args); err != nil {
						t.Errorf("%s: %v", kind, err)
					}
				}
			}
		})
	}
	lanes.Wait()
	if t.Log(&n); !t.Failed() {
		t.Log("all recordings are readable; no target was left stopped, traced, slower or dead")
	}
	for what, count := range map[string]*atomic.Int64{"exec": &n.execs, "ended thread": &n.threads, "crash": &n.crashes,
		"stop": &n.stops, "killed target": &n.kills, "killed sampler": &n.killedSamplers, "sample": &n.samples} {
		if count.Load() == 0 {
			t.Errorf("there was no %s", what)
		}
	}
}

// A beating target prints dots, which show that it makes progress.
type beating struct {
	cmd                *exec.Cmd
	beats, begun, made atomic.Int64 // number of dots; of starts of the program; of hundreds of threads that it has created
	ended              chan error
}

// Write receives the target's output.
func (b *beating) Write(p []byte) (int, error) {
	b.beats.Add(int64(bytes.Count(p, []byte("."))))
	b.made.Add(int64(bytes.Count(p, []byte("+"))))
	b.begun.Add(int64(bytes.Count(p, []byte("ready"))))
	return len(p), nil
}

// beat starts a target.
func beat(path string, args []string) (*beating, error) {
	b := &beating{cmd: exec.Command(path, append(slices.Clone(args), "-beat")...), ended: make(chan error, 1)}
	b.cmd.Stdout = b
	if _, err := b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { b.ended <- b.cmd.Wait() }()
	return b, nil
}

// over reports whether the target has ended, and returns how.
func (b *beating) over() (bool, error) {
	select {
	case err := <-b.ended:
		b.ended <- err
		return true, err
	default:
		return false, nil
	}
}

// kill ends the target.
func (b *beating) kill() error {
	b.cmd.Process.Kill()
	err := <-b.ended
	b.ended <- err
	return err
}

// torture samples one target with one sampler after the other. It kills every fourth target while that is sampled.
func torture(t *testing.T, n *totals, path, kind string, args []string) error {
	b, err := beat(path, args)
	if err != nil {
		return err
	}
	defer b.kill()
	n.targets.Add(1)
	dir := t.TempDir()
	for k := range 3 {
		if over, _ := b.over(); over {
			break
		}
		if err := oneSampler(n, b, filepath.Join(dir, strconv.Itoa(k)), k == 2 && rand.IntN(4) == 0); err != nil {
			return err
		}
	}
	err = b.outcome(n, kind, path, args)
	b.kill()
	n.execs.Add(max(b.begun.Load()-1, 0))
	n.threads.Add(100 * b.made.Load())
	return errors.Join(err, readable(n, dir))
}

// outcome checks that a target still runs, or that it has ended as it should.
func (b *beating) outcome(n *totals, kind, path string, args []string) error {
	if kind == "crash" {
		return b.crashes(n)
	}
	over, err := b.over()
	if !over {
		return b.lives(path, args)
	}
	if err == nil || err.Error() != "signal: killed" {
		return fmt.Errorf("the target ended: %v", err)
	}
	return nil
}

// oneSampler starts a sampler on a target that is stopped and continued all the time. It kills the sampler at a random
// moment; or it kills the target, and then the sampler ends by itself.
func oneSampler(n *totals, b *beating, dir string, killTarget bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s := exec.Command("/proc/self/exe", "-test.run=^$")
	s.Env = append(os.Environ(), tortureEnv+"="+strconv.Itoa(b.cmd.Process.Pid)+":"+dir)
	s.Stderr = os.Stderr
	if err := s.Start(); err != nil {
		return err
	}
	n.samplers.Add(1)
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	enough := make(chan bool)
	var stopper sync.WaitGroup
	stopper.Go(func() {
		for {
			select {
			case <-enough:
				return
			case <-time.After(time.Duration(rand.IntN(100_000)) * time.Microsecond):
			}
			n.stops.Add(1)
			b.cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(rand.IntN(5_000)) * time.Microsecond)
			b.cmd.Process.Signal(syscall.SIGCONT)
		}
	})
	time.Sleep(time.Duration(rand.IntN(800_000)) * time.Microsecond)
	if killTarget {
		if over, _ := b.over(); !over {
			n.kills.Add(1)
		}
		b.kill()
	} else {
		s.Process.Kill()
	}
	close(enough)
	stopper.Wait()
	select {
	case err := <-ended:
		if err != nil && err.Error() == "signal: killed" {
			n.killedSamplers.Add(1)
			err = nil
		}
		return err
	case <-time.After(patience):
		s.Process.Kill()
		return errors.New("a sampler did not end with its target")
	}
}

// patience is how long something may take on a busy machine.
const patience = time.Minute

// lives checks that a target still runs, that no thread of it is traced or stopped, and that it is as fast as one that is
// not sampled.
func (b *beating) lives(path string, args []string) error {
	control, err := beat(path, args)
	if err != nil {
		return err
	}
	defer control.kill()
	for end := time.Now().Add(patience); ; {
		mine, its := b.beats.Load(), control.beats.Load()
		time.Sleep(50 * time.Millisecond)
		mine, its = b.beats.Load()-mine, control.beats.Load()-its
		if over, err := b.over(); over {
			return fmt.Errorf("the target ended: %v", err)
		}
		state, free := b.state()
		if free && mine > 0 && its > 0 && mine >= its/2 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the target makes %d dots where one that was let alone makes %d:\n%s", mine, its, state)
		}
	}
}

// crashes waits until a target has crashed as it should, or was killed.
func (b *beating) crashes(n *totals) error {
	select {
	case err := <-b.ended:
		b.ended <- err
		if err != nil && err.Error() == "exit status 2" {
			n.crashes.Add(1)
		} else if err == nil || err.Error() != "signal: killed" {
			return fmt.Errorf("the target ended: %v", err)
		}
		return nil
	case <-time.After(patience):
		state, _ := b.state()
		return fmt.Errorf("the target doesn't crash:\n%s", state)
	}
}

// state returns the state of each thread. free reports whether none is stopped or traced.
func (b *beating) state() (text string, free bool) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", b.cmd.Process.Pid))
	for _, f := range files {
		status, _ := os.ReadFile(f)
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "State:") || strings.HasPrefix(line, "TracerPid:") {
				text += line
			}
		}
	}
	stuck := strings.Contains(text, "State:\tT") || strings.Contains(text, "State:\tt")
	return text, !stuck && strings.Count(text, "TracerPid:") == strings.Count(text, "TracerPid:\t0\n")
}

// readable checks that all recordings in a folder can be read.
func readable(n *totals, dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return err
	}
	for _, d := range found {
		if files, _ := os.ReadDir(d); len(files) < 2 {
			continue // killed before there was anything to read
		}
		r, err := sampledata.Open(d)
		if err != nil {
			if s, e := os.Stat(filepath.Join(d, "SampleData")); e == nil && s.Size() == 0 {
				continue
			}
			return fmt.Errorf("a recording can't be read: %w", err)
		}
		if err := r.Check(); err != nil {
			return fmt.Errorf("a recording is wrong: %w", err)
		}
		n.recordings.Add(1)
		n.samples.Add(int64(r.Samples.Len()))
	}
	return nil
}
