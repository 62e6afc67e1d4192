package main

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why"
)

// together searches several recordings of a program.
func (f *whyFlags) together(t terminal, paths []string) error {
	var all []*sampledata.Recording
	var first *source
	for _, path := range paths {
		s, err := f.open(path)
		if err != nil {
			return err
		}
		if err := s.needSamples("samples over time, of which why speaks: 'cpprof find' shows what costs most"); err != nil {
			return err
		}
		if first == nil {
			first = s
		}
		f.warnOfDifferent(first, s)
		all = append(all, s.recording)
	}
	found, err := why.Together(all, f.searchOptions(first))
	if err != nil {
		return err
	}
	out := report.NewTogether(paths, found, report.BasisOf(all...))
	if f.json {
		return out.WriteJSON(t.out)
	}
	return out.Write(t.out)
}

// warnOfDifferent warns if two recordings are of different programs.
func (f *whyFlags) warnOfDifferent(a, b *source) {
	if now, other := report.Program(a.recording), report.Program(b.recording); now != other {
		text := fmt.Sprintf("%s is of %s, %s is of %s: if these are different programs, don't compare them",
			a.path, now, b.path, other)
		termtext.Fprintf(f.err, "cpprof: warning: %s\n", text)
		f.warnings = append(f.warnings, sampledata.Warning{Kind: "other-program", Message: text})
	}
}
