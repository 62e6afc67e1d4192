//go:build linux && amd64

package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/delve"
)

// TestDelveLong compares with Delve at the same instant: the
// target is stopped (SIGSTOP) while both backends take a sample.
//
// So far, each rare difference turned out to be a moment at
// which Delve is wrong in a way that fault does not know yet. An
// error of ours shows up in each round, and more than once.
func TestDelveLong(t *testing.T) {
	fixture.Long(t)
	for round := range 3 {
		c := compareWithDelve(t)
		t.Logf("round %d: %d stacks agree, %d differ; set aside: %v", round, c.agree, c.differ, c.aside)
		if c.agree < 40*30 {
			t.Errorf("only %d stacks were compared", c.agree)
		}
		if c.differ <= 1 {
			return
		}
	}
	t.Error("stacks differ from Delve's in every round")
}

func compareWithDelve(t *testing.T) comparison {
	t.Helper()
	path := build(t)
	v := begin(t, path, "-parked=20", "-threads=2", "-held=2", "-busy=2", "-pairs=3", "-lockers=3", "-short=2", "-garbage")
	defer v.end()
	b := attach(t, v)
	p := fixture.Must(sampler.Find(v.Process.Pid))(t)
	defer p.Release()
	bin := fixture.Must(delve.Load(path))(t)
	d := fixture.Must(bin.Attach(p))(t)
	defer d.Close()
	mine, theirs := sampledata.NewBuilder(b.Header()), sampledata.NewBuilder(d.Header())
	c := comparison{t: t, aside: map[string]int{}}
	for k := range 40 {
		fixture.Check(t, freeze(v))
		s := sampledata.Sample{Time: time.Duration(k) * time.Millisecond}
		_, err1 := b.Observe(context.Background(), mine, s)
		_, err2 := d.Observe(context.Background(), theirs, s)
		v.Process.Signal(syscall.SIGCONT)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		c.compare(mine.Recording(), theirs.Recording())
		time.Sleep(time.Duration(k%7) * 300 * time.Microsecond)
	}
	return c
}

// freeze stops all threads of a target.
func freeze(v *victim) error {
	if err := v.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for range 20_000 {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", v.Process.Pid))
		stopped := 0
		for _, f := range files {
			text, _ := os.ReadFile(f)
			if _, state, ok := strings.Cut(string(text), ") "); ok && state[0] == 'T' {
				stopped++
			}
		}
		if stopped == len(files) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("the target doesn't stop")
}

// A comparison compares the last samples of two recordings.
type comparison struct {
	t             *testing.T
	agree, differ int
	aside         map[string]int
}

func (c *comparison) compare(mine, theirs *sampledata.Recording) {
	c.t.Helper()
	a, b := last(mine), last(theirs)
	for id, x := range a {
		y, ok := b[id]
		if !ok {
			c.t.Errorf("Delve doesn't see goroutine %d, %v %q", id, x.Run, x.Reason)
			continue
		}
		got, want := innermost(frames(mine, x.Stack)), innermost(frames(theirs, y.Stack))
		if slices.Equal(got, want) {
			c.agree++
		} else if why := fault(got, want); why != "" {
			c.aside[why]++
		} else {
			c.differ++
			c.t.Logf("goroutine %d, %v %q (Delve: %v %q): stack\n  %s\nDelve's\n  %s", id, x.Run, x.Reason, y.Run, y.Reason,
				strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	for id := range b {
		if _, ok := a[id]; !ok {
			c.t.Errorf("goroutine %d is missing", id)
		}
	}
}

// innermost removes the line of the innermost frame. For a
// parked goroutine, Delve reports the line of the instruction
// after the call by which the goroutine left its stack.
func innermost(frames []string) []string {
	// A marker in which no code runs; the unwinder leaves it out.
	frames = slices.DeleteFunc(frames, func(f string) bool { return strings.HasPrefix(f, "runtime.systemstack_switch ") })
	if len(frames) > 0 {
		frames[0], _, _ = strings.Cut(frames[0], ":")
	}
	return frames
}

// fault returns the known fault of Delve, or the known
// difference, that explains why Delve's stack differs.
func fault(got, want []string) string {
	all := strings.Join(got, "\n")
	switch {
	case len(want) > 0 && strings.HasPrefix(want[0], "unknown "):
		return "Delve doesn't know the vDSO"
	case strings.Contains(all, "runtime.asyncPreempt "):
		return "Delve drops the caller above a frameless leaf that was preempted"
	case strings.Contains(all, "runtime.sigtramp "):
		return "Delve loses frames in signal handlers"
	case strings.Contains(all, "runtime.mcall ") || strings.Contains(all, "runtime.morestack "):
		return "Delve stops where a goroutine leaves its stack"
	case len(want) > len(got) && len(got) > 1 && slices.Equal(got[1:], want[len(want)-len(got)+1:]):
		return "this backend shows a system call at the position of its entry"
	case len(got) == len(want)+1 && strings.HasPrefix(got[1], want[0]+":") && slices.Equal(got[2:], want[1:]):
		return "Delve drops the innermost frame of a goroutine that yielded"
	}
	return ""
}
