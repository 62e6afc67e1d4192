package agent

import (
	"bytes"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
)

// The profile has only what is proved, and each function once.
func TestLeaks(t *testing.T) {
	call := func(f string, line int32) sampledata.Call {
		return sampledata.Call{Function: f, File: "a.go", Line: line}
	}
	r := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(7, 0)}).Recording()
	r.Marking = &sampledata.Marking{Time: time.Second, Groups: []sampledata.MarkedGroup{
		{Verdict: sampledata.Stuck, Count: 12, Calls: []sampledata.Call{call("main.send", 2), call("main.run", 3)}},
		{Verdict: sampledata.Stuck, Count: 1, Calls: []sampledata.Call{call("main.send", 4), call("main.run", 3)}},
		{Verdict: sampledata.Suspected, Count: 5, Calls: []sampledata.Call{call("main.maybe", 5)}},
	}}
	data := fixture.Must(leaks(r))(t)
	p := fixture.Must(profile.Parse(bytes.NewReader(data)))(t)
	if p.SampleType[0].Type != "goroutineleak" || p.SampleType[0].Unit != "count" || p.TimeNanos != 8e9 {
		t.Errorf("the profile is %v", p)
	}
	if len(p.Sample) != 2 || len(p.Function) != 2 || len(p.Location) != 3 || p.Sample[0].Value[0] != 12 ||
		p.Sample[0].Location[0].Line[0].Function.Name != "main.send" {
		t.Errorf("the profile is %v", p)
	}
}
