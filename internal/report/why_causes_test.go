package report

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/why"
)

// What one cause does in several states is one line; another place or
// certainty is another line.
func TestCausesInOneLine(t *testing.T) {
	at := why.Place{Function: "main.save", Library: "os.(*File).Sync"}
	f := &why.Finding{Kind: why.LockKind, Causes: []why.Cause{
		{Class: "go:main.store", Activity: why.CallsKernel, Place: at, Within: 1, Share: 0.5, Certainty: why.Known},
		{Class: "go:main.store", Activity: why.NoCPU, Place: at, Within: 1, Share: 0.3, Certainty: why.Known},
		{Class: "go:main.store", Activity: why.NoCPU, Place: at, Within: 1, Share: 0.1, Certainty: why.Likely},
	}}
	want := []string{"go:main.store holds it, in main.save, os.(*File).Sync: it is in a system call (50 % of that time); " +
		"it would run, but its thread waits for a CPU (30 % of that time)",
		"go:main.store probably holds it, in main.save, os.(*File).Sync: it would run, but its thread waits for a CPU (10 % of that time)"}
	if got := causeLines(f); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
