package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A bench has the programs, once built, and how much to measure.
type bench struct {
	dir                           string
	target, fgprof, peer          string // paths of the programs
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
		target: filepath.Join(dir, "target"), fgprof: filepath.Join(dir, "target-fgprof"), peer: filepath.Join(dir, "delve"),
	}
	if quick {
		b.samples, b.rounds, b.speedSeconds = 100, 3, 2
	}
	_, file, _, _ := runtime.Caller(0)
	peers := filepath.Join(filepath.Dir(file), "peers")
	for _, args := range [][]string{
		{"build", "-o", b.target, "./target"},
		{"build", "-tags", "fgprof", "-o", b.fgprof, "./target"},
		{"build", "-o", b.peer, "./delve"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = peers, append(os.Environ(), "GOWORK=off")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.close()
			return nil, fmt.Errorf("building %s: %w\n%s", args[len(args)-1], err, text)
		}
	}
	return b, nil
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// A target is a running target.
type target struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

func start(path string, args ...string) (*target, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &target{cmd, in, bufio.NewReader(out)}
	if _, err := t.out.ReadString('\n'); err != nil {
		t.stop()
		return nil, fmt.Errorf("starting the target: %w", err)
	}
	time.Sleep(200 * time.Millisecond)
	return t, nil
}

func (t *target) stop() {
	t.cmd.Process.Kill()
	t.cmd.Wait()
}

// count asks the target how many operations it has done.
func (t *target) count() (n int64, at time.Time, err error) {
	fmt.Fprintln(t.in)
	_, err = fmt.Fscanln(t.out, &n)
	return n, time.Now(), err
}

// A sampling is a sampler that runs in a process of its own. It ends by itself or when its input is closed.
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
	s := &sampling{cmd: exec.Command(self, append([]string{"-sample", itoa(t.cmd.Process.Pid)}, args...)...)}
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
	defer t.stop()
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
	defer t.stop()
	out, err := exec.Command(b.peer, itoa(t.cmd.Process.Pid), itoa(halts)).Output()
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
	slices.Sort(took)
	return took[len(took)/2], nil
}

// A way is one way of sampling, or not sampling, and its effect on a target.
type way struct {
	name               string
	args               []string  // of the sampler; nil: no sampler, which shows how much the machine itself varies
	ratios, rates, cpu []float64 // one value a round
}

// disturb compares a target while it is sampled with the same target before and after.
func (b *bench) disturb(w *way, args []string) error {
	t, err := start(b.target, args...)
	if err != nil {
		return err
	}
	defer t.stop()
	time.Sleep(time.Second)
	before, err := b.speed(t)
	if err != nil {
		return err
	}
	sampled, m, err := b.speedSampled(t, w.args)
	if err != nil {
		return err
	}
	after, err := b.speed(t)
	if err != nil {
		return err
	}
	w.ratios = append(w.ratios, 2*sampled/(before+after))
	w.rates, w.cpu = append(w.rates, m.Rate), append(w.cpu, m.CPU)
	return nil
}

// speedSampled returns the operations a second of a target while it is sampled, and the costs of sampling.
func (b *bench) speedSampled(t *target, args []string) (speed float64, m measures, err error) {
	attachTime := 2 * time.Second // attaching and the first sample, which unwinds all stacks, are over by then
	if args == nil {
		time.Sleep(attachTime)
		speed, err = b.speed(t)
		return speed, m, err
	}
	s, err := t.sample(args...)
	if err != nil {
		return 0, m, err
	}
	time.Sleep(attachTime)
	speed, err = b.speed(t)
	s.in.Close()
	m, failed := s.wait()
	return speed, m, cmp.Or(err, failed)
}

// profiled compares a target that profiles itself with one that doesn't, run before and after it.
func (b *bench) profiled(args []string) (float64, error) {
	var speeds [3]float64
	for i, path := range []string{b.target, b.fgprof, b.target} {
		t, err := start(path, args...)
		if err != nil {
			return 0, err
		}
		time.Sleep(time.Second)
		speeds[i], err = b.speed(t)
		t.stop()
		if err != nil {
			return 0, err
		}
	}
	return 2 * speeds[1] / (speeds[0] + speeds[2]), nil
}

// speed returns the operations a second of a target.
func (b *bench) speed(t *target) (float64, error) {
	first, begin, err := t.count()
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Duration(b.speedSeconds) * time.Second)
	last, end, err := t.count()
	return float64(last-first) / end.Sub(begin).Seconds(), err
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// spread formats the median, the minimum and the maximum of some ratios.
func spread(r []float64) string {
	middle := median(r)
	return fmt.Sprintf("%5.1f %%  (%.1f to %.1f)", 100*middle, 100*r[0], 100*r[len(r)-1])
}
