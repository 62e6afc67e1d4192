package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
)

// TestProbeLive probes a program that counts and times its own
// calls, and reads the recording of it again.
func TestProbeLive(t *testing.T) {
	t.Parallel()
	target := startProbed(t)
	file := filepath.Join(t.TempDir(), "run.cpprof")
	said, err := self(t, "probe", "-d", "1s", "-o", file, "-p", strconv.Itoa(target.Pid()), "main.work", "main.leaf").CombinedOutput()
	if strings.Contains(string(said), "not permitted") {
		t.Skip(string(said))
	}
	if err != nil || !strings.Contains(string(said), "main.leaf: it has no frame") || !strings.Contains(string(said), "the probes are out") {
		t.Fatalf("%v: %s", err, said)
	}
	again := fixture.Must(self(t, "probe", "--json", file).Output())(t)
	var got struct {
		Probes []struct {
			Function, Instrument string
			Calls                uint64
			Elapsed              *struct{ Min int64 } `json:"elapsed_ns"`
			Sites                []struct{ Caller string }
		}
	}
	fixture.Check(t, json.Unmarshal(again, &got))
	if len(got.Probes) != 1 || got.Probes[0].Function != "main.work" || got.Probes[0].Calls == 0 {
		t.Fatalf("%s", again)
	}
	p := got.Probes[0]
	if !strings.Contains(string(said), fmt.Sprintf("%d calls", p.Calls)) {
		t.Errorf("the recording has %d calls: %s", p.Calls, said)
	}
	if p.Instrument == "uprobe" && (p.Elapsed == nil || p.Elapsed.Min < 190_000 || p.Sites[0].Caller != "main.timed.func1") {
		t.Errorf("%s", again)
	}
	text, err := self(t, "export", file, "--to", "text", "-o", "-").Output()
	if err != nil || !strings.Contains(string(text), "probe main.work") {
		t.Errorf("%v: the text has no probe: %.300s", err, text)
	}
}

// startProbed starts a program that calls main.work for a long time.
func startProbed(t *testing.T) *fixture.Running {
	t.Helper()
	in, out, err := os.Pipe()
	fixture.Check(t, err)
	t.Cleanup(func() { in.Close(); out.Close() })
	target := fixture.StartWith(t, exec.Command(fixture.Build(t, "probed"), "paced", "3000000"), in)
	needsTracing(t, target.Pid())
	fmt.Fprintln(out)
	return target
}

// A probing is cpprof while it probes main.work.
type probing struct {
	*exec.Cmd
	file  string
	said  written
	ended chan error
}

// startProbe begins to probe, and waits for the first samples.
// It skips the test if that is not permitted.
func startProbe(t *testing.T, target *fixture.Running) *probing {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.cpprof")
	p := &probing{Cmd: self(t, "probe", "-o", file, "-p", strconv.Itoa(target.Pid()), "main.work"), file: file, ended: make(chan error, 1)}
	p.Stdout, p.Stderr = &p.said, &p.said
	fixture.Check(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
	go func() { p.ended <- p.Wait() }()
	await(t, "samples of a program that is probed", func() bool {
		select {
		case err := <-p.ended:
			if strings.Contains(p.said.String(), "not permitted") {
				t.Skip(p.said.String())
			}
			t.Fatalf("%v: %s", err, p.said.String())
		default:
		}
		_, err := os.Stat(filepath.Join(file, "SampleData"))
		return err == nil
	})
	return p
}

// end ends the probe, which must have counted calls.
func (p *probing) end(t *testing.T) {
	t.Helper()
	p.Process.Signal(os.Interrupt)
	err := <-p.ended
	if said := p.said.String(); err != nil || !strings.Contains(said, "the probes are out") || !strings.Contains(said, " calls, ") {
		t.Errorf("%v: %s", err, said)
	}
}

// Two that probe the same function of a program know of each
// other; both count, and the program goes on.
func TestTwoProbesLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := startProbed(t)
	first, second := startProbe(t, target), startProbe(t, target)
	for _, p := range []*probing{first, second} {
		await(t, "the other one is known", func() bool {
			r, err := interchange.ReadRecording(p.file)
			return err == nil && slices.ContainsFunc(r.Warnings, func(w sampledata.Warning) bool { return w.Kind == "other-sampler" })
		})
	}
	first.end(t)
	second.end(t)
	for p, other := range map[*probing]*probing{first: second, second: first} {
		if want := fmt.Sprintf("process %d is also sampled by process %d (", target.Pid(), other.Process.Pid); !strings.Contains(p.said.String(), want) {
			t.Errorf("it does not say %q: %s", want, p.said.String())
		}
	}
	startProbe(t, target).end(t) // the program goes on
	if traced := tracedThreads(target.Pid()); traced != "" {
		t.Errorf("still traced: %s", traced)
	}
}

// TestRecordCalls times each call of a program that times its
// calls itself, while it is recorded.
func TestRecordCalls(t *testing.T) {
	t.Parallel()
	target := startProbed(t)
	file, pid := filepath.Join(t.TempDir(), "run.cpprof"), strconv.Itoa(target.Pid())
	said, err := self(t, "record", "-d", "1s", "-o", file, "-p", pid, "--calls", "main.leaf").CombinedOutput()
	if err == nil || !strings.Contains(string(said), "the samples alone show its calls") {
		t.Errorf("%v: %s", err, said)
	}
	said, err = self(t, "record", "-d", "1s", "-o", file, "-p", pid, "--calls", "main.work", "--probe-overhead", "10%").CombinedOutput()
	if strings.Contains(string(said), "not permitted") {
		t.Skip(string(said))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	again := fixture.Must(self(t, "calls", "--json", file, "main.work").Output())(t)
	var got struct {
		Source    string
		Windows   int
		Arguments []string
		Calls     []struct {
			Caller string
			Values []int64
			Length int64 `json:"length_ns"`
			End    bool  `json:"cut_end"`
		}
	}
	fixture.Check(t, json.Unmarshal(again, &got))
	if got.Source != "uprobes" || got.Windows == 0 || len(got.Arguments) != 2 || len(got.Calls) < 10 {
		t.Fatalf("%.2000s", again)
	}
	for _, c := range got.Calls {
		if c.Caller != "" && (c.Caller != "main.timed.func1" || c.Values[0] > 2 || c.Length < 190_000 && !c.End) {
			t.Errorf("%+v", c)
		}
	}
	if out, err := self(t, "calls", file, "main.work", "--slow", "> p90").CombinedOutput(); err != nil || !strings.Contains(string(out), "The source is probes") {
		t.Errorf("%v: %s", err, out)
	}
}
