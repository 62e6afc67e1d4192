package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// exportFlags are the flags of export.
type exportFlags struct {
	reportFlags
	to     string
	output string
	force  bool
}

func newExportCommand(t terminal) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export RECORDING --to FORMAT -o FILE",
		Short: "Write a view in the format of another tool",
		Long: `export writes a view of a recording in the format of another tool:

` + formatList() + `

Without --server or --thread it writes the Thread Views of all classes, each below a frame of its
class. Of one view, --prune and --zoom leave out stacks; --down, --extended, --up and --auto write
its entries instead. -o - is standard output. Every format but csv-samples takes --against.`,
		Example: `  cpprof export run.cpprof --to pprof -o r.pb.gz && go tool pprof -tagfocus state=MONITOR r.pb.gz
  cpprof export run.cpprof --thread go:main.worker --to folded -o - | flamegraph.pl > graph.svg`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error { return f.run(t, path) })
	f.addExported(c, t)
	f.addAgainst(c)
	c.Flags().StringVar(&f.to, "to", "",
		"the `format` to write: "+strings.Join(export.Names(), ", "))
	completeWords(c, "to", export.Names()...)
	addOutput(c, &f.output, "")
	addForce(c, &f.force)
	c.AddCommand(newPushCommand(t))
	return c
}

// addExported adds the flags that choose what is exported, and refine it.
func (f *exportFlags) addExported(c *cobra.Command, t terminal) {
	f.addSamples(c, t)
	f.addFormat(c)
	addSpan(c, &f.span)
	f.addCalls(c)
	f.addChoice(c)
	f.addSteps(c)
	addMin(c, &f.min)
}

// formatList returns a line for each format of export.
func formatList() string {
	width := 0
	var shown []*export.Format
	for _, f := range export.All() {
		// csv stands for all tables, and dot for all pictures
		if !strings.HasPrefix(f.Name, "csv-") && !slices.Contains([]string{"svg", "mermaid"}, f.Name) {
			shown = append(shown, f)
			width = max(width, len(f.Name))
		}
	}
	return strings.Join(lists.Each(shown, func(f *export.Format) string {
		return fmt.Sprintf("  %-*s  %s", width, f.Name, f.Help)
	}), "\n")
}

func (f *exportFlags) run(t terminal, path string) error {
	if f.to == "" {
		return usagef("no format is given: add --to with one of %s",
			strings.Join(export.Names(), ", "))
	}
	to, err := export.Lookup(f.to)
	if err != nil {
		return usagef("--to: %w", err)
	}
	if f.against != "" {
		if err := to.CheckComparison(); err != nil {
			return usagef("--against: %w", err)
		}
	}
	if err := f.checkOutput(t, to); err != nil {
		return err
	}
	f.slices = to.Intervals
	s, err := f.exported(path, to)
	if err != nil {
		return err
	}
	for _, w := range s.Warnings {
		tell(t.err, "warning: %s: %s", path, w.Message)
	}
	if f.output == "-" {
		return exportError(path, to, to.Write(t.out, s))
	}
	err = create(f.output, f.force,
		func(w io.Writer) error { return exportError(path, to, to.Write(w, s)) })
	if err != nil {
		return err
	}
	_, err = termtext.Fprintf(t.out, "%s, in %s\n", s.Name(), f.output)
	return err
}

// checkOutput returns an error if what is written could not go
// where the flags say. It is called before anything is read.
func (f *exportFlags) checkOutput(t terminal, to *export.Format) error {
	switch {
	case f.output == "":
		return usagef("no output is given: name a file with -o, such as -o %s, or standard output with -o -", to.File)
	case f.output == "-" && to.Binary && t.outIsTerminal:
		return usagef("-o -: %s is not for a terminal: name a file with -o, or redirect the output",
			to.Name)
	case f.output != "-":
		return checkNew(f.output, f.force)
	}
	return nil
}

func exportError(path string, to *export.Format, err error) error {
	if err != nil {
		return fmt.Errorf("exporting %s to %s: %w", path, to.Name, err)
	}
	return nil
}

// exported makes what the flags say to export to a format.
func (f *exportFlags) exported(path string, to *export.Format) (*export.Subject, error) {
	if f.against != "" {
		return f.exportedPair(path)
	}
	s, err := f.open(path)
	if err != nil {
		return nil, err
	}
	if s.recording.Restricted != nil && to.Name == "text" {
		return nil, usagef("--calls: %s has the whole recording, with all goroutines", to.Name)
	}
	if to.OfRecording && !f.server && f.thread == "" && len(f.steps) == 0 && !f.auto {
		return f.subject(s, nil, nil), nil
	}
	return f.exportedOf(s)
}

// exportedOf makes what the flags say to export of a source.
func (f *exportFlags) exportedOf(s *source) (*export.Subject, error) {
	v, err := s.view(f.exportedView())
	if err != nil {
		return nil, err
	}
	session, err := f.refined(v)
	if err != nil {
		return nil, err
	}
	return f.subject(s, session, v), nil
}

// exportedPair makes the comparison that the flags say to export.
func (f *exportFlags) exportedPair(path string) (*export.Subject, error) {
	p, err := f.openPair(path)
	if err != nil {
		return nil, err
	}
	compared, err := p.compare(f.exportedView())
	if err != nil {
		return nil, err
	}
	both, err := p.merge(compared)
	if err != nil {
		return nil, err
	}
	session, err := f.refined(both)
	if err != nil {
		return nil, err
	}
	s := f.subject(p.a, session, both)
	s.Against = p.b.named()
	return s, nil
}

// exportedView returns the function that makes the view to export.
func (f *exportFlags) exportedView() views.Maker {
	if !f.server && f.thread == "" {
		return views.Threads
	}
	return f.maker()
}

// refined refines the view. The view of all classes can't be
// refined: a call path does not lead past the frame of a class.
func (f *exportFlags) refined(v *view) (*refine.Session, error) {
	if len(f.steps) > 0 || f.auto {
		if err := f.needView(v.from.path); err != nil {
			return nil, err
		}
	}
	return f.session(v)
}

// subject returns what to export: a view, and its session. The
// view may be nil if it has all classes.
func (f *exportFlags) subject(s *source, session *refine.Session, v *view) *export.Subject {
	out := &export.Subject{
		Path: s.path, Title: "Thread Views of all classes", Recording: s.recording,
		Options: s.options, Config: s.config, View: f.exportedView(),
		Session: session, Part: len(f.steps) > 0,
		Refined: f.auto || slices.ContainsFunc(f.steps, func(step refine.Step) bool {
			return step.Kind != refine.KindPrune && step.Kind != refine.KindZoom
		}),
	}
	if v != nil {
		out.Warnings = v.Warnings
	}
	if f.server || f.thread != "" {
		out.Title, out.Open = v.title(), v.Tree.Root()
	}
	return out
}

// checkNew returns an error if a file exists and may not be
// replaced. Devices and pipes are written to.
func checkNew(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		folder := filepath.Dir(path)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return usagef("there is no folder %s to write %s into", folder, filepath.Base(path))
		}
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: name a file with -o", path)
	case info.Mode().IsRegular() && !force:
		return usagef("%s exists: choose another name, or replace it with --force", path)
	}
	return nil
}

// create writes a file. If that fails, there is no file, or what
// there was before.
func create(path string, force bool, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		out, err := os.OpenFile(path, os.O_WRONLY, 0) // a device or a pipe, which is never removed
		if err != nil {
			return err
		}
		return errors.Join(write(out), out.Close())
	}
	temp, err := os.OpenFile(fmt.Sprintf("%s.%d.part", path, os.Getpid()),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, reason(err))
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	if err := errors.Join(write(temp), temp.Close()); err != nil {
		return err
	}
	if err := checkNew(path, force); err != nil { // it may have come into being meanwhile
		return err
	}
	return os.Rename(temp.Name(), path)
}

// reason returns an error without the file that it names.
func reason(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}
