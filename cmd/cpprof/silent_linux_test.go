package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// startSilent starts a program with pointers into a page that
// never answers a read.
func startSilent(t *testing.T, page string) *fixture.Running {
	t.Helper()
	target := fixture.Start(t, fixture.Build(t, "silent"), page, filepath.Join(t.TempDir(), "mount"))
	if reason, ok := strings.CutPrefix(target.Line, "refused: "); ok {
		t.Skipf("there can be no such page here: %s", reason)
	}
	return target
}

// forEachPage runs a test with a program of each kind that has a
// page that never answers.
func forEachPage(t *testing.T, f func(t *testing.T, target *fixture.Running)) {
	for _, page := range []string{"userfaultfd", "fuse"} {
		t.Run(page, func(t *testing.T) {
			target := startSilent(t, page)
			f(t, target)
			if traced := tracedThreads(target.Pid()); traced != "" {
				t.Errorf("still traced: %s", traced)
			}
			target.Lives(t)
		})
	}
}

// A program with a page that never answers is recorded. The
// recording says that something was left out.
func TestRecordSilentPage(t *testing.T) {
	t.Parallel()
	forEachPage(t, func(t *testing.T, target *fixture.Running) {
		for i, backend := range backendNames() {
			r := startRecording(t, "--backend", backend, "-p", fmt.Sprint(target.Pid()))
			r.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2])
			endsSoon(t, r.Cmd)
			rec := r.recording(t)
			if rec.End == nil || rec.End.Cause != sampledata.EndInterrupted {
				t.Errorf("%s: the recording ended with %+v", backend, rec.End)
			}
			told := slices.ContainsFunc(rec.Warnings, func(w sampledata.Warning) bool { return w.Kind == "unanswered-page" })
			if backend == "snapshot" && !told {
				t.Errorf("no warning says that something was left out: %v", rec.Warnings)
			}
		}
	})
}

// SIGINT and SIGTERM end every command that looks at such a program.
func TestSilentPageSignalsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	forEachPage(t, func(t *testing.T, target *fixture.Running) {
		pid := fmt.Sprint(target.Pid())
		var started []*exec.Cmd
		for _, args := range [][]string{
			{"why", "-p", pid},
			{"top", "-p", pid},
			{"probe", "-p", pid, "main.main"},
			{"agent", "--listen", "127.0.0.1:0"},
		} {
			for range 2 {
				c := self(t, args...)
				c.Dir = t.TempDir()
				fixture.Check(t, c.Start())
				t.Cleanup(func() { c.Process.Kill() })
				started = append(started, c)
			}
		}
		time.Sleep(time.Second) // what they do is the same at any time after that
		for i, c := range started {
			c.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2])
		}
		for _, c := range started {
			endsSoon(t, c)
		}
	})
}

// dump-goroutines shows all goroutines of such a program.
func TestDumpSilentPage(t *testing.T) {
	t.Parallel()
	forEachPage(t, func(t *testing.T, target *fixture.Running) {
		for _, backend := range backendNames() {
			var out, said written
			c := self(t, "dump-goroutines", "--backend", backend, "-p", fmt.Sprint(target.Pid()))
			c.Stdout, c.Stderr = &out, &said
			fixture.Check(t, c.Start())
			endsSoon(t, c)
			if !strings.Contains(out.String(), "main.main.func1") {
				t.Errorf("%s: %s%s", backend, out.String(), said.String())
			}
			if text := said.String(); backend == "snapshot" && !strings.Contains(text, "left out") || strings.Contains(text, `\x0a`) {
				t.Errorf("it does not say in lines that something was left out: %s", text)
			}
		}
	})
}

// Nothing is claimed of a program whose heap has such a page. A
// word that the main goroutine has left on its stack can refer
// to the channel for a moment: then its waiter is not shown.
func TestStuckSilentPage(t *testing.T) {
	t.Parallel()
	target := startSilent(t, "heap")
	shown := false
	for range 5 {
		var out written
		c := self(t, "stuck", "-p", fmt.Sprint(target.Pid()), "--max-halt", "500ms")
		c.Stdout = &out
		fixture.Check(t, c.Start())
		endsSoon(t, c)
		s := out.String()
		if !strings.Contains(s, "No claim is made: a page of the heap can't be read") || strings.Contains(s, "stuck for good") {
			t.Errorf("got %s", s)
		}
		if shown = strings.Contains(s, "main.receive"); shown {
			break
		}
	}
	if !shown {
		t.Error("main.receive is never shown")
	}
	target.Lives(t)
}

// Ten programs that do not answer delay no answer of the agent
// about another one.
func TestAgentSilentLong(t *testing.T) {
	fixture.LongInTurn(t, 0)
	healthy := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, healthy.Pid())
	a := startAgent(t, "--max-duration", "200ms", "--every", "200ms", "--at-once", "13", "--max-cpu", "0",
		"--max-halt", "0", "--rate", "1000", "--max-overhead", "100%", "--match", "mutex", "--match", "silent", "--match", "mount")
	ask := func(what string) {
		began := time.Now()
		a.get("/discovery", http.StatusOK)
		listed := time.Since(began)
		a.get("/metrics", http.StatusOK)
		began = time.Now()
		a.get(fmt.Sprintf("/debug/pprof/wall?pid=%d&seconds=0.2", healthy.Pid()), http.StatusOK)
		t.Logf("%s: the list took %v, a profile %v", what, listed, time.Since(began))
	}
	for range 5 {
		ask("alone")
	}
	var silent []*fixture.Running
	for range 3 {
		for _, kind := range []string{"userfaultfd", "fuse", "executable", "vanishing"} {
			silent = append(silent, startSilent(t, kind))
		}
	}
	var asking sync.WaitGroup
	for _, target := range silent {
		asking.Go(func() {
			for ended := false; !ended; {
				_, _, err := a.fetch(t.Context(), fmt.Sprintf("/debug/pprof/wall?pid=%d", target.Pid()))
				ended = err != nil
			}
		})
	}
	for range 10 {
		ask("with others that do not answer")
	}
	a.Process.Signal(syscall.SIGTERM)
	began := time.Now()
	endsSoon(t, a.Cmd)
	t.Logf("SIGTERM ended it after %v", time.Since(began))
	asking.Wait()
	for _, target := range silent {
		if traced := tracedThreads(target.Pid()); traced != "" {
			t.Errorf("still traced: %s", traced)
		}
		target.Lives(t)
	}
}

// An executable may lie on a file system that does not answer.
// No command waits for it for long, and the agent serves other
// programs.
func TestSilentExecutableLong(t *testing.T) {
	fixture.Long(t)
	target := startSilent(t, "executable")
	pid := strings.TrimSpace(target.Line)
	// Without the file system, whoever waits for it gets an error.
	defer time.AfterFunc(30*time.Second, func() { target.Process.Kill() }).Stop()
	const want = "its executable has not answered"
	var started []*exec.Cmd
	for _, args := range [][]string{
		{"record", "-p", pid},
		{"record", "--web", "-p", pid},
		{"dump-goroutines", "-p", pid},
		{"dump-goroutines", "--backend", "delve", "-p", pid},
		{"stuck", "-p", pid},
		{"why", "-p", pid},
		{"top", "-p", pid},
		{"probe", "-p", pid, "main.main"},
	} {
		c := self(t, args...)
		c.Dir, c.Stderr = t.TempDir(), &written{}
		fixture.Check(t, c.Start())
		t.Cleanup(func() { c.Process.Kill() })
		started = append(started, c)
	}
	for _, c := range started {
		endsSoon(t, c)
		if said := c.Stderr.(*written).String(); !strings.Contains(said, want) {
			t.Errorf("%q said %q, want %q", c.Args[1:], said, want)
		}
	}
	healthy := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, healthy.Pid())
	a := startAgent(t, "--max-duration", "200ms", "--match", "mutex", "--match", "mount")
	a.get(fmt.Sprintf("/debug/pprof/wall?pid=%d&seconds=1", healthy.Pid()), http.StatusOK)
	a.Process.Signal(syscall.SIGTERM)
	endsSoon(t, a.Cmd)
	target.Lives(t)
}

// A page that vanishes in the moment before it is read holds
// cpprof up. A signal ends cpprof nevertheless.
func TestVanishingPage(t *testing.T) {
	t.Parallel()
	testVanishingPage(t, func(r *recorder) { r.Process.Signal(syscall.SIGTERM) })
}

// Without a signal, cpprof ends after a while: nothing more is
// recorded, and --duration could not end it.
func TestVanishingPageOfADuration(t *testing.T) {
	t.Parallel()
	testVanishingPage(t, func(*recorder) {}, "--duration", "6s")
}

func testVanishingPage(t *testing.T, hit func(*recorder), args ...string) {
	t.Helper()
	target := startSilent(t, "vanishing")
	r := startRecording(t, append(args,
		"--rate", "1000", "--max-overhead", "100%", "-p", fmt.Sprint(target.Pid()))...)
	target.Process.Signal(syscall.SIGUSR1)
	fixture.Must(target.Out.ReadString('!'))(t)
	hit(r)
	endsSoon(t, r.Cmd)
	if !strings.Contains(r.stderr.String(), "does not return") {
		t.Errorf("%v: %s", r.ProcessState, r.stderr.String())
	}
	if traced := tracedThreads(target.Pid()); traced != "" {
		t.Errorf("still traced: %s", traced)
	}
	target.Lives(t)
	if rec := r.recording(t); rec.Samples.Len() == 0 {
		t.Error("the recording has no samples")
	}
}

// endsSoon waits until a command has ended.
func endsSoon(t *testing.T, c *exec.Cmd) {
	t.Helper()
	kill := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
	defer kill.Stop()
	c.Wait()
	// On a busy machine, a signal can reach a command before it
	// handles signals.
	if s := c.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() && s.Signal() == syscall.SIGKILL {
		t.Errorf("%q had to be killed", c.Args)
	}
}
