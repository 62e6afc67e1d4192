//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A bench has the programs, once built, and how much to measure.
type bench struct {
	dir                           string
	target, peer                  string // paths of the programs
	samples, rounds, speedSeconds int
	maxCPU                        float64 // bound of a recording, in cores
}

func newBench(quick bool, maxCPU float64) (*bench, error) {
	dir, err := os.MkdirTemp("", "cpprof-halt-")
	if err != nil {
		return nil, err
	}
	b := &bench{
		dir: dir, maxCPU: maxCPU, samples: 500, rounds: 7, speedSeconds: 4,
		target: filepath.Join(dir, "target"), peer: filepath.Join(dir, "delve"),
	}
	if quick {
		b.samples, b.rounds, b.speedSeconds = 100, 3, 2
	}
	_, file, _, _ := runtime.Caller(0)
	peers := filepath.Join(filepath.Dir(file), "peers")
	if err := tool.Go(peers, []string{"GOWORK=off"}, "build", "-o", dir, "./target", "./delve"); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// A target is a running target.
type target struct{ *tool.Program }

func start(path string, args ...string) (*target, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	p, _, err := tool.Ready(cmd)
	if err != nil {
		return nil, fmt.Errorf("starting the target: %w", err)
	}
	time.Sleep(200 * time.Millisecond)
	return &target{p}, nil
}

// count asks the target how many operations it has done.
func (t *target) count() (n int64, at time.Time, err error) {
	fmt.Fprintln(t.In)
	_, err = fmt.Fscanln(t.Out, &n)
	return n, time.Now(), err
}

// measures are the costs of sampling.
type measures struct {
	Median, P90, P99, Longest int     // of the halts, in µs
	CPU                       float64 // processor time of the sampler, in cores, without attaching
	Halted                    float64 // share of the time that the target was halted
	Rate                      float64 // samples a second
	MB                        int     // largest memory use of the sampler
	Reused                    float64 // share of the stacks that were reused
	Rechecked, Wrong          int
}

// A sampling is a sampler that runs in a process of its own. It
// ends by itself or when its input is closed.
type sampling struct {
	cmd *exec.Cmd
	in  io.Closer
	out bytes.Buffer
}

func (t *target) sample(args ...string) (*sampling, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &sampling{cmd: exec.Command(self, append([]string{"-sample", itoa(t.Process.Pid)}, args...)...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return s, s.cmd.Start()
}

// wait waits for the sampler and returns what sampling cost.
func (s *sampling) wait() (m measures, err error) {
	if err := s.cmd.Wait(); err != nil {
		return m, fmt.Errorf("sampling the target: %w", err)
	}
	return m, json.Unmarshal(s.out.Bytes(), &m)
}

// sampled measures the cost of a number of samples of a target.
func (b *bench) sampled(samples int, args ...string) (m measures, err error) {
	t, err := start(b.target, args...)
	if err != nil {
		return m, err
	}
	defer t.End()
	s, err := t.sample("-samples", itoa(samples))
	if err != nil {
		return m, err
	}
	return s.wait()
}

// delve returns the median halt of a target under Delve, in microseconds.
func (b *bench) delve(halts int, args ...string) (int, error) {
	t, err := start(b.target, args...)
	if err != nil {
		return 0, err
	}
	defer t.End()
	out, err := exec.Command(b.peer, itoa(t.Process.Pid), itoa(halts)).Output()
	if err != nil {
		return 0, fmt.Errorf("halting the target with Delve: %w", err)
	}
	var took []int
	for _, f := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		took = append(took, n)
	}
	if len(took) == 0 {
		return 0, fmt.Errorf("halting the target with Delve: it printed %q", out)
	}
	return tool.Median(took), nil
}
