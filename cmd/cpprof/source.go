package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/spf13/cobra"
)

// viewFlags are the flags that choose a view of a recording.
type viewFlags struct {
	inputFlags
	command *cobra.Command // that has them; nil if there is none
	server  bool
	thread  string

	by       string
	idle     bool
	created  bool     // goroutines are charged to those who started them
	slices   bool     // trees say when their stacks got their hits, which intervals need
	settings []string // of --set
	samples  string   // the list whose samples count; "" is all
	calls    string   // the calls whose time counts; "" is all time
	against  string   // the recording to compare with
	// the calls whose time counts there; "" applies the same condition
	againstCalls string
}

// addSamples adds the flags of every command that counts a recording's samples.
func (f *viewFlags) addSamples(c *cobra.Command, t terminal) {
	f.command = c
	f.addInput(c, t)
	addSampleList(c, &f.samples)
	_ = c.RegisterFlagCompletionFunc("samples", f.completeMeasured(metrics.AllSamples))
	addSettings(c, &f.settings)
}

// addOptions adds the flags of every command that divides a recording's time.
func (f *viewFlags) addOptions(c *cobra.Command, t terminal) {
	f.addSamples(c, t)
	f.addFormat(c)
	addSpan(c, &f.span)
	f.addCalls(c)
}

// given returns the given flags that say what counts, as words
// of a command line that goes on.
func (f *viewFlags) given() []string {
	if f.command == nil {
		return nil
	}
	return givenFlags(f.command, func(name string) bool {
		return slices.Contains([]string{"span", "samples", "calls", "set", "format", "idle", "created-by"},
			name)
	})
}

// addView adds the flags that choose a view and the kind of its frames.
func (f *viewFlags) addView(c *cobra.Command, t terminal) {
	f.addOptions(c, t)
	f.addChoice(c)
}

// addChoice adds the flags that choose a view, but none that
// divides the time.
func (f *viewFlags) addChoice(c *cobra.Command) {
	f.addValue(c)
	flags := c.Flags()
	flags.BoolVar(&f.server, "server", false,
		"the Server View: CPU time of all goroutines (throughput)")
	flags.StringVar(&f.thread, "thread", "",
		"the Thread View of a `class`, by its name or a part of it: all time of its goroutines (latency)")
	flags.StringVar(&f.by, "by", "function", "what a frame is: function, line, file, package")
	f.addCharging(c)
	completeWords(c, "by", "function", "line", "file", "package")
	_ = c.RegisterFlagCompletionFunc("thread", f.completeNames(0, (*source).classNames))
}

// addCharging adds the flags that say what counts as the time of a class.
func (f *viewFlags) addCharging(c *cobra.Command) {
	c.Flags().BoolVar(&f.idle, "idle", false,
		"also count the time in which goroutines wait for work (see the aspect @idle)")
	c.Flags().BoolVar(&f.created, "created-by", false,
		"charge goroutines to those who started them: their stacks hang below the go statements")
}

func completeWords(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completeNames returns what completes with names that the
// recording has which is already on the command line, as far as
// they can be typed.
func (f *viewFlags) completeNames(more cobra.ShellCompDirective,
	names func(*source) ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		f.samples, f.calls = "", ""
		s, err := f.open(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		list, err := names(s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.DeleteFunc(list, func(name string) bool { return !termtext.IsPrintable(name) }),
			cobra.ShellCompDirectiveNoFileComp | more
	}
}

// classNames returns the names of the thread classes.
func (s *source) classNames() ([]string, error) {
	classes, err := views.Classes(s.recording, s.options)
	return lists.Each(classes, func(c views.ClassSummary) string { return c.Class }), err
}

// A source is a recording, with the configuration and options
// for its views.
type source struct {
	path      string
	flags     []string // see viewFlags.given
	recording *sampledata.Recording
	whole     *sampledata.Recording // before its time was restricted to calls; nil if it is not
	config    *config.Config
	options   views.Options
}

// again returns the flags that say what counts, as the end of a
// command line.
func (s *source) again() termtext.Text {
	text := ""
	for _, word := range s.flags {
		text += " " + words.Shell(word)
	}
	return termtext.Text(text)
}

// open checks the flags, and reads the configuration and the recording.
func (f *viewFlags) open(path string) (*source, error) {
	s, err := f.prepared()
	if err != nil {
		return nil, err
	}
	in, err := f.input(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return s, f.read(s, in)
}

// prepared checks the flags, and returns a source that has
// everything except the recording.
func (f *viewFlags) prepared() (*source, error) {
	if f.server && f.thread != "" {
		return nil, usagef("--server and --thread choose different views: give one of them")
	}
	s := &source{flags: f.given()}
	var err error
	if s.config, err = f.configuration(); err != nil {
		return nil, err
	}
	s.options, err = f.viewOptions(s.config)
	return s, err
}

// read reads the recording of a source.
func (f *viewFlags) read(s *source, in *interchange.Input) (err error) {
	s.path = in.Name
	if s.recording, err = f.recording(in); err != nil {
		return err
	}
	if s.recording.Profile != nil {
		f.server = f.thread == "" // a profile has no other view of all
		s.config.Threshold = refine.Threshold{Cost: smallCost}
	}
	if s.isDump() {
		s.config.Threshold = refine.Threshold{Cost: smallCost}
		s.options.LeaveOutIdle = false
	}
	if by := s.options.Classes; !by.Applies(s.recording) {
		tell(f.err, "warning: no goroutine of %s has the label %s: classes are by function",
			s.path, by.Label)
	}
	if err := s.checkSpan(); err != nil {
		return err
	}
	if s.options.CreatedBy {
		if err := views.CheckCreators(s.recording); err != nil {
			return usagef("--created-by: %s: %w", s.path, err)
		}
	}
	return f.pick(s)
}

// isDump reports whether the recording was made from goroutine dumps. They
// have few samples, in which everything counts.
func (s *source) isDump() bool { return s.recording.Header.Sampler.Backend == sampledata.FromDump }

// smallCost is the first threshold for profiles and dumps.
// Weights of a profile are not hits, so the threshold of ten
// hits doesn't apply.
var smallCost = big.NewRat(1, 1000)

// needSamples returns an error if the recording is a profile:
// profiles lack what the command needs.
func (s *source) needSamples(what string) error {
	if p := s.recording.Profile; p != nil {
		return fmt.Errorf("%s is %s: it has no %s", s.path, p.Title, what)
	}
	return nil
}

// openSampled is open for a command that needs what profiles lack.
func (f *viewFlags) openSampled(path, what string) (*source, error) {
	s, err := f.open(path)
	if err == nil {
		err = s.needSamples(what)
	}
	return s, err
}

// checkSpan returns an error if the span has no samples.
func (s *source) checkSpan() error {
	if s.options.Span != (views.Span{}) {
		if err := s.needSamples("times"); err != nil {
			return &usageError{err}
		}
	}
	if err := s.options.Span.Check(s.named()); err != nil {
		return &usageError{err}
	}
	return nil
}

// configuration reads the config file, and adds the settings of --set.
func (f *viewFlags) configuration() (*config.Config, error) {
	file, settings := "", []string(nil)
	for _, setting := range f.settings {
		if path, ok := strings.CutPrefix(setting, "config="); ok {
			file = path
		} else {
			settings = append(settings, setting)
		}
	}
	c, err := loadConfig(file, f.err)
	if err != nil {
		return nil, err
	}
	for _, setting := range settings {
		if err := c.Set(setting); err != nil {
			return nil, usagef("--set %s: %w", setting, err)
		}
	}
	return c, nil
}

// loadConfig reads a config file; with path "", the one of the
// current folder, if there is one.
func loadConfig(path string, warnings io.Writer) (*config.Config, error) {
	if path == "" {
		found, ignored, err := config.Find(".")
		if err != nil {
			return nil, err
		}
		for _, file := range ignored {
			tell(warnings, "warning: %s belongs to another user and is ignored; to use it, add --set config=%s", file, words.Shell(file))
		}
		path = found
	}
	if path == "" {
		return config.Default(), nil
	}
	return config.Load(path)
}

func (f *viewFlags) viewOptions(c *config.Config) (o views.Options, err error) {
	if f.by != "" {
		if o.Granularity, err = views.ParseGranularity(f.by); err != nil {
			return o, usagef("--by: %w", err)
		}
	}
	o.Classes = c.Classes
	o.Span, o.MaxMemory = f.span, int64(f.memory)
	o.Accounting, o.NoInlines = c.Accounting, c.NoInlines
	o.Slices = f.slices
	o.LeaveOutIdle, o.CreatedBy = !f.idle, f.created
	return c.Configure(o), nil
}

// A view is a weighted call tree, and its origin.
type view struct {
	*views.View
	from *source
}

// aspects returns the aspects that the view's functions belong to.
func (v *view) aspects() *calltree.Membership {
	return v.from.config.AllAspects().Membership(v.Tree.Symbols())
}

func (v *view) title() string {
	return report.Title(v.from.recording, v.Tree.Root(), v.from.options, v.IdleShare())
}

// profile returns a session of the view as a report.
func (v *view) profile(s *refine.Session) *report.Profile {
	return &report.Profile{Session: s, Title: v.title(), Warnings: v.Warnings,
		Basis: report.BasisOf(v.from.recording)}
}

// view builds the view that the flags choose.
func (f *viewFlags) view(s *source) (*view, error) { return s.view(f.maker()) }

// maker returns the function that makes the view that the flags choose.
func (f *viewFlags) maker() views.Maker {
	if f.server {
		return views.Server
	}
	return views.ThreadMaker(f.thread)
}

func (s *source) threadView(class string) (*view, error) { return s.view(views.ThreadMaker(class)) }

func (s *source) view(make views.Maker) (*view, error) {
	v, err := make(s.recording, s.options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return &view{v, s}, nil
}

func (s *source) named() views.Named { return views.Named{Name: s.path, Recording: s.recording} }

// turns returns the classes whose Thread Views are to be
// analysed, one after the other: the busiest ones if the flags
// choose no view of a recording. Otherwise it returns none.
func (f *viewFlags) turns(path string) ([]string, error) {
	if f.server || f.thread != "" {
		return nil, nil
	}
	s, err := f.open(path)
	if err != nil {
		return nil, err
	}
	if s.recording.Profile != nil {
		return nil, nil
	}
	classes, err := views.Classes(s.recording, s.options)
	if err != nil || len(classes) == 0 {
		return nil, err
	}
	return views.Busiest(working(s, classes, (*views.ClassSummary).OnlyIdle)), nil
}

// nextTurn returns the function that opens the remaining classes for the
// shell, or nil if there are none.
func (f *viewFlags) nextTurn(c *cobra.Command, path string, rest []string) func() (string,
	*hotspots.Trees, error) {
	if len(rest) == 0 {
		return nil
	}
	return func() (string, *hotspots.Trees, error) {
		if len(rest) == 0 {
			return "", nil, errors.New("this is the last of the busiest classes")
		}
		if err := c.Flags().Set("thread", rest[0]); err != nil {
			return "", nil, err
		}
		rest = rest[1:]
		a, b, err := f.openViews(path)
		if err != nil {
			return "", nil, err
		}
		var head bytes.Buffer
		heading(&head, a, b)
		return head.String(), profile(a, b), nil
	}
}
