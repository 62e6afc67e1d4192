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

// The test binary is a sampler where this is set: to a process and a folder for recordings.
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

// torment records a process until it becomes another program (true) or ends.
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

// tally counts what the torture did.
type tally struct {
	targets, samplers, killed, stops, beats, recordings, samples atomic.Int64
}

// TestTorture samples targets that do, and that suffer, all that makes sampling dangerous, with samplers that are
// killed at random instants. No target may be left stopped, traced or dead, no recording unreadable.
func TestTorture(t *testing.T) {
	path := build(t, "-ldflags=-w") // attaching is faster without reading DWARF, so that there are more halts
	kinds := map[string][]string{
		"exec":    {"-again=20ms", "-busy=1", "-threads=3"},
		"threads": {"-churn=1000", "-pairs=1"},
		"crash":   {"-crash=" + strconv.Itoa(100+rand.IntN(900)) + "ms", "-busy=1"},
		"busy":    {"-busy=2", "-pairs=2", "-lockers=2", "-short=2", "-garbage"},
		"parked":  {"-parked=2000"},
	}
	var n tally
	end := time.Now().Add(*tortureFor)
	var lanes sync.WaitGroup
	for range 2 {
		lanes.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				for kind, args := range kinds {
					if err := torture(t, &n, path, kind, append(args, "-beat")); err != nil {
						t.Errorf("%s: %v", kind, err)
					}
				}
			}
		})
	}
	lanes.Wait()
	t.Logf("%d targets, %d samplers of which %d were killed, %d stops of targets; %d recordings with %d samples, all readable; no target left stopped, traced or dead",
		n.targets.Load(), n.samplers.Load(), n.killed.Load(), n.stops.Load(), n.recordings.Load(), n.samples.Load())
}

// A beating target shows by dots that it gets on.
type beating struct {
	cmd   *exec.Cmd
	beats atomic.Int64
	ended chan error
}

func (b *beating) Write(p []byte) (int, error) {
	b.beats.Add(int64(bytes.Count(p, []byte("."))))
	return len(p), nil
}

func torture(t *testing.T, n *tally, path, kind string, args []string) error {
	b := &beating{cmd: exec.Command(path, args...), ended: make(chan error, 1)}
	b.cmd.Stdout = b
	if _, err := b.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := b.cmd.Start(); err != nil {
		return err
	}
	n.targets.Add(1)
	go func() { b.ended <- b.cmd.Wait() }()
	dir := t.TempDir()
	for k := range 3 {
		if err := oneSampler(n, b, filepath.Join(dir, strconv.Itoa(k))); err != nil {
			b.cmd.Process.Kill()
			return err
		}
	}
	err := b.lives(kind)
	b.cmd.Process.Kill()
	return errors.Join(err, readable(n, dir))
}

// oneSampler lets a sampler loose on a target, while the target is stopped and continued, and kills the sampler.
func oneSampler(n *tally, b *beating, dir string) error {
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
	for range 1 + rand.IntN(20) {
		time.Sleep(time.Duration(rand.IntN(40_000)) * time.Microsecond)
		if rand.IntN(3) == 0 {
			n.stops.Add(1)
			b.cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(rand.IntN(5_000)) * time.Microsecond)
			b.cmd.Process.Signal(syscall.SIGCONT)
		}
	}
	s.Process.Kill()
	if err := s.Wait(); err != nil {
		n.killed.Add(1)
	}
	return nil
}

// lives makes sure that a target goes on, or ended as it was to.
func (b *beating) lives(kind string) error {
	before := b.beats.Load()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		select {
		case err := <-b.ended:
			b.ended <- err
			if kind == "crash" && err != nil && err.Error() == "exit status 2" {
				return nil
			}
			return fmt.Errorf("the target ended: %v", err)
		default:
		}
		state, free := b.state()
		if kind != "crash" && free && b.beats.Load() > before+20 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the target doesn't get on (%d dots):\n%s", b.beats.Load()-before, state)
		}
	}
}

// state tells of each thread whether it is stopped or traced, and whether none is.
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

// readable opens all recordings below a folder.
func readable(n *tally, dir string) error {
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
		n.samples.Add(int64(len(r.Samples)))
	}
	return nil
}
