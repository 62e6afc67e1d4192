package main

import (
	"bufio"
	"bytes"
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

// A bench has the programs built and knows how much to measure.
type bench struct {
	dir                           string
	target, fgprof, peer          string // programs
	samples, rounds, speedSeconds int
}

func newBench(quick bool) (*bench, error) {
	dir, err := os.MkdirTemp("", "cpprof-halt-")
	if err != nil {
		return nil, err
	}
	b := &bench{
		dir: dir, samples: 500, rounds: 7, speedSeconds: 4,
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

// A target is one that runs.
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

// count asks the target how much it got done.
func (t *target) count() (n int64, at time.Time, err error) {
	fmt.Fprintln(t.in)
	_, err = fmt.Fscanln(t.out, &n)
	return n, time.Now(), err
}

// sampleOf begins to sample a process, in a process of its own.
func (b *bench) sampleOf(pid, samples int) (*exec.Cmd, *bytes.Buffer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd, out := exec.Command(self, "-sample", itoa(pid), "-samples", itoa(samples)), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	return cmd, out, cmd.Start()
}

// sampled measures samples of a target.
func (b *bench) sampled(samples int, args ...string) (m measures, err error) {
	t, err := start(b.target, args...)
	if err != nil {
		return m, err
	}
	defer t.stop()
	cmd, out, err := b.sampleOf(t.cmd.Process.Pid, samples)
	if err != nil {
		return m, err
	}
	if err := cmd.Wait(); err != nil {
		return m, fmt.Errorf("sampling the target: %w", err)
	}
	return m, json.Unmarshal(out.Bytes(), &m)
}

// delve gives the median halt of a target under Delve, in microseconds.
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

// speed gives the operations a second that a target does, sampled or not.
func (b *bench) speed(path string, sampled func(pid, samples int) (*exec.Cmd, *bytes.Buffer, error), args []string) (float64, error) {
	t, err := start(path, args...)
	if err != nil {
		return 0, err
	}
	defer t.stop()
	if sampled != nil {
		cmd, _, err := sampled(t.cmd.Process.Pid, 1<<30)
		if err != nil {
			return 0, err
		}
		defer func() {
			cmd.Process.Kill()
			cmd.Wait()
		}()
	}
	time.Sleep(time.Second) // attaching is over by then
	first, begin, err := t.count()
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Duration(b.speedSeconds) * time.Second)
	last, end, err := t.count()
	return float64(last-first) / end.Sub(begin).Seconds(), err
}

// spread tells the median, the least and the most of some ratios.
func spread(r []float64) string {
	slices.Sort(r)
	return fmt.Sprintf("%5.1f %%  (%.1f to %.1f)", 100*r[len(r)/2], 100*r[0], 100*r[len(r)-1])
}
