package main

import (
	"io"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// Without a terminal, top prints as many blocks as -n says. In
// each, the workers wait for a lock. The program continues.
func TestTop(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	for _, backend := range backendNames() {
		t.Run(backend, func(t *testing.T) {
			text := attached(t, target, "top", "-n", "2", "-i", "300ms", "--backend", backend, "--max-cpu", "0", "--max-overhead", "0")
			blocks := strings.Split(text, "\n\nmutex, process ")
			if len(blocks) != 2 {
				t.Fatalf("%d blocks: %s", len(blocks), text)
			}
			class := regexp.MustCompile(`(?m)^go:main\.reader +4\.0  M{30}   0    0    0     100    0$`)
			for _, b := range blocks {
				if !class.MatchString(b) || !strings.Contains(b, "\ngo:main.worker  ") || !strings.Contains(b, "call path (Server View)\n") {
					t.Errorf("the classes of the program are missing: %s", b)
				}
				if strings.Contains(b, "\x1b") {
					t.Errorf("there are control characters: %q", b)
				}
			}
		})
	}
}

// top counts the samples of a list, as soon as there are some,
// and says how many of how many.
func TestTopSamplesLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	text := attached(t, target, "top", "-n", "6", "-i", "300ms", "--samples", "late & (process.cpu > 0)", "--set", "lists.late=time > 0.8", "--max-cpu", "0", "--max-overhead", "0")
	blocks := strings.Split(text, "\n\n")
	if !regexp.MustCompile(`^none of the \d+ samples? so far is in the list "late & \(process\.cpu > 0\)"\n`).MatchString(blocks[0] + "\n") {
		t.Errorf("before there are any: %s", blocks[0])
	}
	counted := regexp.MustCompile(`the last .*: (\d+) of (\d+) samples in "late & \(process\.cpu > 0\)"`).FindAllStringSubmatch(text, -1)
	if len(counted) == 0 || len(counted) > 5 {
		t.Fatalf("%d blocks with samples of the list: %s", len(counted), text)
	}
	for _, c := range counted {
		some, _ := strconv.Atoi(c[1])
		if all, _ := strconv.Atoi(c[2]); some == 0 || some >= all {
			t.Errorf("%d of %d samples are later than 0.8 s", some, all)
		}
	}
	for _, wrong := range []string{"process.cpuu > 0", "process.cpu"} {
		var errs strings.Builder
		args := []string{"top", "-n", "100", "-i", "200ms", "-p", strconv.Itoa(target.Pid()), "--samples", wrong}
		if status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: io.Discard, err: &errs}); status != exitUsage || !strings.Contains(errs.String(), "--samples: ") {
			t.Errorf("%s: it ends with %d and says %q", wrong, status, errs.String())
		}
	}
}

// why samples a program, and counts the samples of a list; a
// mistake in it ends it soon.
func TestWhySamplesLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	file := filepath.Join(t.TempDir(), "run.cpprof")
	text := attached(t, target, "why", "-o", file, "-d", "2s", "--samples", "time > 0.5 && process.cpu > 0")
	if !regexp.MustCompile(`(?m)^.*\d+ of \d+ samples.*time > 0\.5 && process\.cpu > 0`).MatchString(text) {
		t.Errorf("it does not say how many samples count: %s", text)
	}
	var errs strings.Builder
	args := []string{"why", "-f", "-o", file, "-d", "10m", "-p", strconv.Itoa(target.Pid()), "--samples", "process.cpuu > 0"}
	if status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: io.Discard, err: &errs}); status != exitUsage || !strings.Contains(errs.String(), "did you mean process.cpu") {
		t.Errorf("it ends with %d and says %q", status, errs.String())
	}
	refuses(t, []refusal{{"record --samples time>1 -p 1", exitUsage, "--samples is for --view and --web"}})
}

// top begins a new recording after some time or after many
// changes, so that no recording grows forever. From then on it
// still always has something to show.
func TestFeedRoundsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	for _, backend := range backendNames() {
		for name, o := range map[string]sampler.FeedOptions{
			"time":    {Longest: 200 * time.Millisecond, Changes: math.MaxInt},
			"changes": {Longest: time.Hour, Least: 100 * time.Millisecond, Changes: 1},
		} {
			t.Run(backend+"/"+name, func(t *testing.T) { feedRounds(t, target, backend, o) })
		}
	}
}

// feedRounds waits for a few rounds.
func feedRounds(t *testing.T, target *fixture.Running, backend string, o sampler.FeedOptions) {
	p, attach, err := find(terminal{err: t.Output()}, target.Pid(), backend)
	fixture.Check(t, err)
	defer p.Release()
	o.Attach, o.Overlap, o.Options = attach, 50*time.Millisecond, sampler.Options{Rate: 100, Jitter: 1}
	feed := fixture.Must(sampler.StartFeed(t.Context(), p, o))(t)
	starts := map[time.Time]bool{}
	for len(starts) < 4 {
		select {
		case <-feed.Ended():
			_, err := feed.Stop()
			t.Fatalf("it has ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
		r := feed.Recording()
		if r.Samples.Len() == 0 && len(starts) > 0 {
			t.Fatal("there is nothing to show after a round")
		}
		fixture.Check(t, r.Check())
		if r.Samples.Len() > 0 {
			starts[r.Header.Start] = true
		}
	}
	if end, err := feed.Stop(); err != nil || end.Cause != sampledata.EndInterrupted {
		t.Errorf("%v: %+v", err, end)
	}
}

// top ends when the program ends.
func TestTopEnds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	needsTracing(t, target.Pid())
	out := &killer{target: target}
	var errs strings.Builder
	args := []string{"top", "-i", "100ms", "-p", strconv.Itoa(target.Pid())}
	status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: out, err: &errs})
	if status != exitFine || !strings.Contains(errs.String(), "has ended: ") {
		t.Errorf("it ends with %d and says %q", status, errs.String())
	}
}

// A killer is a writer that ends a program at the first write.
type killer struct{ target *fixture.Running }

func (k *killer) Write(p []byte) (int, error) {
	k.target.Process.Kill()
	k.target.Wait()
	return len(p), nil
}

func TestTopRefuses(t *testing.T) {
	refuses(t, []refusal{
		{"top", exitUsage, "give a process: cpprof top -p PROCESS"},
		{"top 4711", exitUsage, "unknown command"},
		{"top -p 1 --backend magic", exitUsage, "no such backend"},
		{"top -p 1 -i 0s", exitUsage, "--interval 0s"},
		{"top -p 1 -n -1", exitUsage, "-n -1"},
		{"top -p 1 --keep 10ms", exitUsage, "--keep 10ms"},
		{"top -p 1 --max-cpu much", exitUsage, `"much" for "--max-cpu" flag`},
		{"top -p 1 --set classes=moon", exitUsage, "--set"},
		{"top -p 99999999", exitFailed, "attach to 99999999: no such process"},
	})
}
