package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// A Basis says how far the recordings can be trusted that an output is made from. All JSON has it.
type Basis struct {
	Warnings []sampledata.Warning `json:"warnings"` // not nil
	Complete bool                 `json:"complete"` // no recording is damaged or breaks off
}

// basis makes every type that embeds a Basis a document.
func (b Basis) basis() Basis { return b }

// BasisOf returns that of all these recordings together. What is made from none, such as from a profile, is complete.
func BasisOf(recordings ...*sampledata.Recording) Basis {
	b := Basis{Warnings: []sampledata.Warning{}, Complete: true}
	for _, r := range recordings {
		b.Warnings = append(b.Warnings, r.Warnings...)
		b.Complete = b.Complete && r.Complete()
	}
	return b
}

// With returns a basis with more warnings.
func (b Basis) With(warnings []sampledata.Warning) Basis {
	b.Warnings = append(slices.Clone(b.Warnings), warnings...)
	if b.Warnings == nil {
		b.Warnings = []sampledata.Warning{}
	}
	return b
}

// Missing says that a recording is not complete, and how much of it counts: "it is damaged: 63 samples count, ...". It is ""
// for one that is complete.
func Missing(r *sampledata.Recording) string {
	if r.Complete() {
		return ""
	}
	s := r.Stats()
	counts := fmt.Sprintf("%s in %s count", Counted(s.Samples, "sample"), span(s.Duration))
	var damages []string
	for _, w := range r.Warnings {
		if w.Kind == sampledata.DamagedFile {
			damages = append(damages, w.Message)
		}
	}
	if len(damages) > 0 {
		return "it is damaged, and " + counts + ": " + strings.Join(damages, "; ")
	}
	return "it breaks off, because it is still being recorded or the sampler was killed: " + counts
}
