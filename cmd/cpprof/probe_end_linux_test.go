package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestProbesAreOutAtTheEnd ends probes, and compares the code of
// the program with the file then. internal/bench/torture does so
// in more ways.
func TestProbesAreOutAtTheEnd(t *testing.T) {
	t.Parallel()
	const duration = "200ms"
	target := startProbed(t)
	for _, c := range []struct {
		name    string
		signals []syscall.Signal // none: the time ends
		status  int
	}{
		{name: "duration"},
		{name: "hang up", signals: []syscall.Signal{syscall.SIGHUP}},
		{name: "kill", signals: []syscall.Signal{syscall.SIGKILL}, status: -1},
		{name: "twice", signals: []syscall.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"probe", "-o", filepath.Join(t.TempDir(), "run.cpprof"), "-p",
				strconv.Itoa(target.Pid()), "main.*"}
			if len(c.signals) == 0 {
				args = append(args, "-d", duration)
			}
			p, said := self(t, args...), &written{}
			p.Stdout, p.Stderr = said, said
			fixture.Check(t, p.Start())
			t.Cleanup(func() { p.Process.Kill() })
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			if len(c.signals) > 0 {
				awaitInstruments(t, target.Pid(), said)
			}
			for _, s := range c.signals {
				p.Process.Signal(s)
				time.Sleep(time.Millisecond) // equal signals that are pending would be one
			}
			<-ended
			if c.status < 0 { // the kernel needs a while
				out := func() bool { return len(changed(t, target.Pid())) == 0 }
				await(t, "the kernel has taken all out", out)
			}
			if places := changed(t, target.Pid()); len(places) > 0 {
				t.Errorf("%d places are left in the code: %#x: %s", len(places), places, said)
			}
			if got := p.ProcessState.ExitCode(); got != c.status && len(c.signals) < 2 {
				t.Errorf("status %d, want %d: %s", got, c.status, said)
			}
		})
	}
}

// awaitInstruments waits until the code of a program is changed.
// It skips the test if that is not permitted.
func awaitInstruments(t *testing.T, pid int, said *written) {
	t.Helper()
	await(t, "instruments in the code", func() bool {
		if strings.Contains(said.String(), "not permitted") {
			t.Skip(said.String())
		}
		return len(changed(t, pid)) > 0
	})
}

func changed(t *testing.T, pid int) []uint64 {
	t.Helper()
	return fixture.Must(fixture.ChangedCode(pid))(t)
}

// TestTooManyProbesLong asks for probes that could not be taken out in time.
func TestTooManyProbesLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := startProbed(t)
	args := []string{"probe", "-d", "100ms", "-o", filepath.Join(t.TempDir(), "run.cpprof"), "-p",
		strconv.Itoa(target.Pid()), "main.*", "--max-removal"}
	said, err := self(t, append(args, "1ns")...).CombinedOutput()
	if strings.Contains(string(said), "not permitted") {
		t.Skip(string(said))
	}
	want := "longer than 1ns: probe at most 0 of them, or only count calls (--counts-only), " +
		"or allow it (--max-removal "
	if err == nil || !strings.Contains(string(said), want) {
		t.Errorf("%v: %s, want %q", err, said, want)
	}
	if said, err := self(t, append(args, "0")...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// TestWhyProbesAreOutAtTheEndLong interrupts a search that probes.
func TestWhyProbesAreOutAtTheEndLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "planted"), "lock")
	needsTracing(t, target.Pid())
	p, said := self(t, "why", "--probes", "-d", patience, "-o", filepath.Join(t.TempDir(), "run.cpprof"),
		"-p", strconv.Itoa(target.Pid())), &written{}
	p.Stdout, p.Stderr = said, said
	fixture.Check(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
	awaitInstruments(t, target.Pid(), said)
	p.Process.Signal(os.Interrupt)
	err := p.Wait()
	if places := changed(t, target.Pid()); err != nil || len(places) > 0 {
		t.Errorf("%v, %d places are left in the code: %s", err, len(places), said)
	}
}

func TestCountdown(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{false, "cpprof: taking the probes out: 3 breakpoints left\n"},
		{true, "\r\x1b[Kcpprof: taking the probes out: 3 breakpoints left\r\x1b[K"},
	} {
		synctest.Test(t, func(t *testing.T) {
			said := &written{}
			show := newCountdown(terminal{err: said, errIsTerminal: c.terminal})
			show(4) // not before it lasts
			time.Sleep(time.Minute)
			show(3)
			show(0)
			if got := said.String(); got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}
