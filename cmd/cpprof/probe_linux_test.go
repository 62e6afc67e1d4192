package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/report"
)

// TestProbeLive probes a program that counts and times its own calls, and reads the recording of it again.
func TestProbeLive(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	target := fixture.StartWith(t, exec.Command(fixture.Build(t, "probed"), "time", "3000000"), in)
	needsTracing(t, target.Pid())
	fmt.Fprintln(out)
	defer out.Close()
	file := filepath.Join(t.TempDir(), "run.cpprof")
	said, err := self(t, "probe", "-d", "1s", "-o", file, "-p", strconv.Itoa(target.Pid()), "main.work", "main.leaf").CombinedOutput()
	if strings.Contains(string(said), "not permitted") {
		t.Skip(string(said))
	}
	if err != nil || !strings.Contains(string(said), "main.leaf: it has no frame") || !strings.Contains(string(said), "the probes are out") {
		t.Fatalf("%v: %s", err, said)
	}
	again, err := self(t, "probe", "--json", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got report.ProbesJSON
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
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
	text, err := self(t, "dump", file).Output()
	if err != nil || !strings.Contains(string(text), "probe main.work") {
		t.Errorf("%v: the text has no probe: %.300s", err, text)
	}
}
