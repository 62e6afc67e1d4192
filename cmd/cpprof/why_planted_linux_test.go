package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/search"
)

// TestWhyFindsPlantedCauses asks why programs are slow whose cause is known (testdata/programs/planted). The first finding must
// be the cause, with its place; the healthy twin of each must have no finding.
func TestWhyFindsPlantedCauses(t *testing.T) {
	if testing.Short() {
		t.Skip("samples 22 programs for some seconds each")
	}
	program := fixture.BuildOnce(t, "planted")
	needsTracing(t, fixture.Start(t, program, "lock", "healthy").Pid())
	for _, c := range []struct {
		name  string
		kind  search.Kind
		where []string // the function of the first finding, or of what it refers to
		says  string   // in its sentence or in why
	}{
		{"lock", search.LockKind, []string{"main.(*journal).add"}, "go:main.flusher holds it, in main.(*journal).flush"},
		{"queue", search.ComputeKind, []string{"main.(*queue).push"}, "go:main.intake"},
		{"encoder", search.ComputeKind, []string{"main.(*feed).encode"}, "main.(*feed).trace"},
		{"runnable", search.ProcessorKind, []string{"main.spin", "main.burner"}, "More goroutines are ready to run than processors"},
		{"allocation", search.AllocationKind, []string{"main.parse"}, "go:main.parser"},
		{"pipeline", search.ComputeKind, []string{"main.spin", "main.transform"}, "go:main.producer"},
		{"leak", search.LeakKind, []string{"main.answer"}, "go:main.request leak"},
		{"pool", search.ChannelKind, []string{"main.(*pool).get"}, "main.query"},
		{"assist", search.AllocationKind, []string{"main.replace"}, "assisting the collector"},
		{"syscall", search.SystemCallKind, []string{"main.logLine"}, "system calls"},
		{"phase", search.ComputeKind, []string{"main.spin", "main.warmUp"}, "main.warmUp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "phase" { // which is short: it needs the processors while it computes
				t.Parallel()
			}
			a, text := askWhy(t, program, c.name)
			if len(a.Findings) == 0 {
				t.Fatalf("no finding:\n%s", text)
			}
			f := a.Findings[0]
			if f.Kind != c.kind || !slices.Contains(c.where, f.Where.Function) || !strings.Contains(text, c.says) {
				t.Errorf("the first finding is %s in %s, want %s in %v, and %q:\n%s", f.Kind, f.Where.Function, c.kind, c.where, c.says, text)
			}
			if c.name == "phase" && (len(f.When.Spans) != 1 || f.When.Spans[0].To > a.To*9/10) {
				t.Errorf("it is true at %+v of %v, want a part before the end", f.When, a.To)
			}
		})
		t.Run(c.name+" healthy", func(t *testing.T) {
			t.Parallel()
			a, text := askWhy(t, program, c.name, "healthy")
			if a.State != search.Idle && a.State != search.Balanced {
				t.Errorf("it is %s:\n%s", a.State, text)
			}
		})
	}
}

// askWhy returns the answer for a program that it starts, and the first finding in words.
func askWhy(t *testing.T, program string, args ...string) (a search.Answer, first string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.cpprof")
	c := self(t, append([]string{"why", "-d", "3s", "--json", "-o", file, "--", program}, args...)...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go startPhase(in, file)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var answer struct {
		search.Answer
		Text []struct {
			Finding, Where string
			Why            []string
		}
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if answer.Samples < 30 {
		t.Skipf("only %d samples: this machine is too busy", answer.Samples)
	}
	for i, f := range answer.Text {
		words := append([]string{f.Finding, f.Where}, f.Why...)
		if i > 0 {
			words = []string{"then: " + f.Finding}
		}
		first += strings.Join(words, "\n") + "\n"
	}
	return answer.Answer, first
}

// startPhase writes a line to a program a moment after its recording has begun.
func startPhase(to io.WriteCloser, recording string) {
	for range 300 {
		if _, err := os.Stat(filepath.Join(recording, "SampleData")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(1200 * time.Millisecond) // in the first second, samples are fewer: cpprof still reads the program
	io.WriteString(to, "\n")
	to.Close()
}
