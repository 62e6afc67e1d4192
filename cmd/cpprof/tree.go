package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/bottlenecks"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/interchange"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// treeFlags are the flags that choose a weighted call tree: a view of a recording, or the file of another tool.
type treeFlags struct {
	viewFlags
	against string
}

// treeArgument returns the help on what can be read: recordings, and files that contain call trees.
func treeArgument() string {
	var files []string
	for _, f := range interchange.Trees() {
		files = append(files, f.Help)
	}
	return wrap("RECORDING is a folder made by 'cpprof record', and --server or --thread CLASS chooses a view of it. " +
		"It may also be the file of another tool: " + enumerate(files, "or") + ".")
}

func (f *treeFlags) addTree(c *cobra.Command, t terminal) {
	f.addView(c, t)
	f.addFormat(c)
	f.addMeter(c)
	c.ValidArgsFunction = completeTree
}

func (f *treeFlags) addAgainst(c *cobra.Command, usage string) {
	c.Flags().StringVar(&f.against, "against", "", usage)
}

// completeTree completes the first argument with recordings and files.
func completeTree(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// A subject is a weighted call tree and its origin.
type subject struct {
	path   string
	tree   *calltree.Tree
	title  string
	from   *source             // nil if it is not a view of a recording
	format *interchange.Format // nil if it is a view of a recording

	warnings []sampledata.Warning // in addition to those of the recording
}

// subject reads the call tree that the path and the flags choose.
func (f *treeFlags) subject(path string) (*subject, error) {
	in, err := f.input(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if !in.Format.HoldsRecording() {
		return f.file(in)
	}
	if err := f.needView(path); err != nil {
		return nil, err
	}
	s, err := f.prepared()
	if err != nil {
		return nil, err
	}
	if err := f.read(s, in); err != nil {
		return nil, err
	}
	v, err := f.view(s)
	if err != nil {
		return nil, err
	}
	return s.subjectOf(v.View), nil
}

func (s *source) subjectOf(v *views.View) *subject {
	return &subject{path: s.path, tree: v.Tree, title: report.Title(v.Tree.Root(), s.options, v.IdleShare()), from: s, warnings: v.Warnings}
}

// file reads the call tree of another tool. Such a tree has no views.
func (f *treeFlags) file(in *interchange.Input) (*subject, error) {
	if f.server || f.thread != "" {
		return nil, usagef("%s is %s: it has no views; leave out --server and --thread", in.Name, in.Format.Title)
	}
	return f.tree(in)
}

// needView returns an error if no view is chosen.
func (f *viewFlags) needView(path string) error {
	if f.server || f.thread != "" {
		return nil
	}
	return usagef("no view is chosen: add --server or --thread CLASS ('cpprof classes %s' lists the classes)", path)
}

// subjects reads the call tree that the argument names and, with --against, the one to compare with; otherwise b is nil.
func (f *treeFlags) subjects(path string) (a, b *subject, err error) {
	if f.against == "" {
		a, err = f.subject(path)
		return a, nil, err
	}
	first, err := f.input(path)
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	second, err := f.input(f.against)
	if err != nil {
		return nil, nil, err
	}
	defer second.Close()
	switch recording := first.Format.HoldsRecording(); {
	case recording != second.Format.HoldsRecording():
		return nil, nil, usagef("%s and %s: a recording and a file of another tool can't be compared", path, f.against)
	case recording:
		return f.comparedSubjects(path, f.against)
	}
	if a, err = f.file(first); err != nil {
		return nil, nil, err
	}
	b, err = f.file(second)
	return a, b, err
}

// headline writes what was read.
func (s *subject) headline(w io.Writer) error {
	if s.from != nil {
		return report.Headline(w, s.path, s.from.recording)
	}
	_, err := termtext.Fprintf(w, "%s: %s of %s\n\n", termtext.Printable(s.path), s.format.Title, termtext.Printable(s.format.About(s.tree)))
	return err
}

// basis returns the basis of the recordings of two subjects, with the subjects' own warnings. b may be nil.
func basis(a, b *subject) report.Basis {
	all := report.BasisOf()
	for _, s := range []*subject{a, b} {
		if s == nil {
			continue
		}
		if s.from != nil {
			of := report.BasisOf(s.from.recording)
			all.Warnings, all.Complete = append(all.Warnings, of.Warnings...), all.Complete && of.Complete
		}
		all = all.With(s.warnings)
	}
	return all
}

// profile returns a subject, or the difference of two, in the form that package bottlenecks takes. Two recordings may have
// different lengths, so their fractions are compared. Of other call trees, the counts are compared.
func profile(a, b *subject) *bottlenecks.Trees {
	if b == nil {
		return bottlenecks.NewSingle(a.tree)
	}
	return bottlenecks.NewComparison(a.tree, b.tree, a.from != nil)
}

// heading writes what a subject is, what it is compared with, and the warnings of both.
func heading(w io.Writer, a, b *subject) error {
	if err := a.headline(w); err != nil {
		return err
	}
	title, warnings := a.title, a.warnings
	if b != nil {
		if err := b.headline(w); err != nil {
			return err
		}
		title += ": " + a.path + " minus " + b.path
		warnings = append(slices.Clone(warnings), b.warnings...)
	}
	_, err := termtext.Fprintf(w, "%s\n%s\n", termtext.Printable(title), termtext.Text(report.Warnings(warnings)))
	return err
}

// bottlenecksCommand returns the command line that opens the same call tree in 'cpprof bottlenecks'.
func (f *treeFlags) bottlenecksCommand(c *cobra.Command, path string) string {
	line := []string{"cpprof", "bottlenecks", words.Shell(path)}
	own := newBottlenecksCommand(terminal{}).Flags()
	c.Flags().Visit(func(flag *pflag.Flag) {
		if own.Lookup(flag.Name) == nil {
			return
		}
		if flag.Value.Type() == "bool" {
			if flag.Value.String() == "true" {
				line = append(line, "--"+flag.Name)
			}
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			line = append(line, "--"+flag.Name, words.Shell(value))
		}
	})
	return strings.Join(line, " ")
}

var errNoTree = errors.New("want one recording, such as run.cpprof, or a profile or trace")

// oneTree checks that the only argument is the recording or file to read.
func oneTree(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%w; got %d arguments", errNoTree, len(args))
	}
	return nil
}
