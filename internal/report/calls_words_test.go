package report

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/views/calls"
)

// Calls that samples can't tell apart are marked where they are listed.
func TestMergedCallsAreMarked(t *testing.T) {
	for touching, want := range map[float64]bool{0.29: false, 0.3: true} {
		p := &ProposedCalls{File: "a.cpprof", Proposals: []calls.Proposal{{
			Table: &calls.Table{Function: "main.f", Touching: touching}, Class: "go:main.f", Share: 1}}}
		b := new(strings.Builder)
		p.Write(b)
		mark, note := strings.Contains(b.String(), "*0 "), strings.Contains(b.String(), "\n* Some of these calls")
		if mark != want || note != want {
			t.Errorf("touching %v: %s", touching, b)
		}
	}
}
