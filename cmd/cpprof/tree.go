package main

import (
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// inputHelp is the help on what can be read in place of a recording.
const inputHelp = "RECORDING may also be the file of another tool, such as a pprof profile: --format lists all."

// openView reads the recording at a path, and makes the view that
// the flags choose.
func (f *viewFlags) openView(path string) (*view, error) {
	s, err := f.open(path)
	if err != nil {
		return nil, err
	}
	if err := f.needView(path); err != nil {
		return nil, err
	}
	return f.view(s)
}

// needView returns an error if no view is chosen.
func (f *viewFlags) needView(path string) error {
	if f.server || f.thread != "" {
		return nil
	}
	return usagef("no view is chosen: add --server or --thread CLASS ('cpprof classes %s' lists the classes)", path)
}

// openViews makes the view of the recording that the argument
// names and, with
// --against, the view to compare with; otherwise b is nil.
func (f *viewFlags) openViews(path string) (a, b *view, err error) {
	if f.compares(path) {
		return f.comparedViews(path)
	}
	a, err = f.openView(path)
	return a, nil, err
}

// recordingsOf returns the recordings of one view, or of two.
func recordingsOf(a, b *view) []*sampledata.Recording {
	if b == nil {
		return []*sampledata.Recording{a.from.recording}
	}
	return []*sampledata.Recording{a.from.recording, b.from.recording}
}

// basis returns what is said of a, or of a and b, in JSON.
func basis(a, b *view) report.Basis {
	all := report.BasisOf(recordingsOf(a, b)...).With(a.Warnings)
	if b != nil {
		all = all.With(b.Warnings)
	}
	return all
}

// profile returns a view, or the difference of two, in the
// form that package hotspots takes. Two recordings may have
// different lengths, so their fractions are compared. Of
// profiles, the counts are compared.
func profile(a, b *view) *hotspots.Trees {
	if b == nil {
		return hotspots.NewSingle(a.Tree)
	}
	return hotspots.NewComparison(a.Tree, b.Tree, a.from.recording.Profile == nil)
}

// heading writes what a view is, what it is compared with, and
// the warnings of both.
func heading(w io.Writer, a, b *view) {
	report.Headline(w, a.from.path, a.from.recording)
	title, warnings := a.title(), a.Warnings
	if b != nil {
		report.Headline(w, b.from.path, b.from.recording)
		title += ": " + a.from.path + " minus " + b.from.path
		warnings = slices.Concat(warnings, b.Warnings)
	}
	termtext.Fprintf(w, "%s\n%s\n", title, termtext.Text(report.Warnings(warnings)))
}

// interactiveCommand returns the command line that opens what find found, but
// for the number at its end.
func (f *viewFlags) interactiveCommand(c *cobra.Command, path string) string {
	line := []string{"cpprof", "find", words.Shell(path)}
	for _, word := range givenFlags(c, func(name string) bool {
		return !slices.Contains([]string{"json", "fail-above", "top"}, name)
	}) {
		line = append(line, words.Shell(word))
	}
	return strings.Join(append(line, "--interactive="), " ")
}

// givenFlags returns the flags of a command line that shows
// accepts, each as words: its name, and its value unless it has
// none.
func givenFlags(c *cobra.Command, shows func(name string) bool) (given []string) {
	c.Flags().Visit(func(flag *pflag.Flag) {
		list, isList := flag.Value.(pflag.SliceValue)
		switch {
		case !shows(flag.Name):
		case isList:
			for _, value := range list.GetSlice() {
				given = append(given, "--"+flag.Name, value)
			}
		case flag.Value.Type() != "bool":
			given = append(given, "--"+flag.Name, flag.Value.String())
		case flag.Value.String() == "true":
			given = append(given, "--"+flag.Name)
		}
	})
	return given
}
