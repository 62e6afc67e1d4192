package report

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/why"
)

// A finding holds "only" on some recordings if the others show less.
func TestWhereFindingsHold(t *testing.T) {
	for want, holds := range map[string][]hotspots.Verdict{
		"On all: ":        {hotspots.Yes, hotspots.Yes},
		"Only on a: ":     {hotspots.Yes, hotspots.No},
		"At least on b: ": {hotspots.Maybe, hotspots.Yes},
	} {
		c := &why.Common{Finding: &why.Finding{Kind: why.MachineKind}, Holds: holds, StandsOut: -1}
		if got := NewTogether([]string{"a", "b"}, []*why.Common{c}, Why{Answer: &why.Answer{}}).Text[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q", holds, got)
		}
	}
}
