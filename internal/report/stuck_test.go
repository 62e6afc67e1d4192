package report

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Why a heap was not marked is said if the recording knows it.
func TestUnmarked(t *testing.T) {
	r := &sampledata.Recording{}
	if got := Unmarked(r); !strings.Contains(got, "heap was not marked. Record") {
		t.Error(got)
	}
	r.Warnings = []sampledata.Warning{{Kind: sampledata.UnmarkedHeap, Message: "it is too large"}}
	if got := Unmarked(r); !strings.Contains(got, "heap was not marked (it is too large). Record") {
		t.Error(got)
	}
}
