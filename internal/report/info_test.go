package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// What ran in a container says in which one; other targets say
// nothing of it.
func TestInfoContainer(t *testing.T) {
	const id = "4f5e0e7c9b1c"
	for _, container := range []string{id, ""} {
		r := synthetic.Recording(20, 10, 0.3)
		r.Header.Container = container
		var text, asJSON strings.Builder
		fixture.Check(t, Info(&text, "run.cpprof", r))
		fixture.Check(t, InfoJSON(&asJSON, r))
		var got map[string]any
		fixture.Check(t, json.Unmarshal([]byte(asJSON.String()), &got))
		said, ok := got["container"]
		if strings.Contains(text.String(), "in the container "+id) != (container != "") ||
			ok != (container != "") || ok && said != id {
			t.Errorf("container %q: %v,\n%s", container, said, text.String())
		}
	}
}

// If only the proof of what is stuck halted the target, the
// longest halt is that one's.
func TestInfoHalts(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(1, 0)})
	fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Millisecond}, nil))
	r := b.Recording()
	r.Marking = &sampledata.Marking{Halted: 3 * time.Millisecond, MaxHalt: 2 * time.Millisecond}
	var text strings.Builder
	fixture.Check(t, Info(&text, "run.cpprof", r))
	const want = "halts       no sample needed one\n            to find what is stuck for good: longest 2.00 ms\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("got %s", text.String())
	}
}

// The detail of an exit says no more than its status.
func TestEndingWords(t *testing.T) {
	for want, end := range map[string]sampledata.End{
		"the target exited with status 3":    {Cause: sampledata.EndExited, ExitStatus: 3, Detail: "exited"},
		"the sampler failed: no such thread": {Cause: sampledata.EndFailed, Detail: "no such thread"},
	} {
		if got := ending(&sampledata.Recording{End: &end}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
