package main

import (
	"context"
	"debug/elf"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	buildinfo "runtime/debug"
	"time"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/demo"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/monitor"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/why"
	"github.com/spf13/cobra"
)

func newDemoCommand(t terminal) *cobra.Command {
	var output string
	var duration time.Duration
	var text bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Record a small contended server, and show its profile",
		Long: `demo runs a small server that is part of cpprof for five seconds, records it, and shows its
profile: at a terminal in the Analyzer, elsewhere as text. The server has four problems on
purpose; demo ends with the call path that shows each, and its cost.`,
		Example: `  cpprof demo
  cpprof demo --text
  cpprof demo -d 20s -o long.cpprof`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := recordDemo(c.Context(), t, output, duration); err != nil {
				return err
			}
			return showDemo(c.Context(), t, output, text || !t.isScreen())
		},
	}
	addOutput(c, &output, "demo.cpprof")
	addDuration(c, &duration, 5*time.Second)
	c.Flags().BoolVar(&text, "text", false, "show the profile as text, not in the Analyzer")
	return c
}

// recordDemo runs and records the server, and ends it.
func recordDemo(ctx context.Context, t terminal, output string, duration time.Duration) error {
	server, err := orderDeskCommand(ctx)
	if err != nil {
		return err
	}
	named, remove := withDebugInformation(ctx, t, server.Path)
	defer remove()
	server.Path = named
	attach, err := backends[defaultBackend].open(server.Path)
	if err != nil {
		return err
	}
	process, err := sampler.LaunchCommand(server)
	if err != nil {
		return err
	}
	defer process.Release()
	defer func() { _ = server.Process.Kill() }()
	b, err := attach(process)
	if err != nil {
		return err
	}
	defer b.Close()
	termtext.Fprintf(t.err, "Recording a small contended server for %v into %s ...\n",
		duration, output)
	f := recordFlags{outputs: outputs{force: true}, samplerFlags: samplerFlags{
		backend: defaultBackend,
		options: sampler.Options{
			Rate: backends[defaultBackend].rate, Jitter: sampler.DefaultJitter,
			Monitors: monitor.Builtin(), MaxOverhead: sampler.DefaultMaxOverhead,
			MaxCPU: sampler.DefaultMaxCPU, Yield: true, Duration: duration,
		},
	}}
	_, err = f.record(ctx, process, b, output, newNarrator(t))
	return err
}

// withDebugInformation returns a program like this one whose
// locks have names: 'go run' leaves them out, and builds the
// program again if asked. If there is no better one, the program
// itself is.
func withDebugInformation(ctx context.Context, t terminal, self string) (path string, remove func()) {
	f, err := elf.Open(self)
	if err != nil {
		return self, func() {}
	}
	defer f.Close()
	build, ok := buildinfo.ReadBuildInfo()
	dir, err := os.MkdirTemp("", "cpprof-demo-")
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, filepath.Base(self))
	if err != nil || !ok || f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil {
		return self, remove
	}
	termtext.Fprintln(t.err, "Building the server with debug information, so that its locks have names ...")
	if exec.CommandContext(ctx, "go", "build", "-o", path, build.Path).Run() != nil {
		return self, remove // there is no Go, or no source
	}
	return path, remove
}

const demoGreeting = "The server has four problems. Go to a class (j k) and open it: ⏎ (Enter)"

// showDemo shows the profile, and then lists the four problems,
// and what a search finds.
func showDemo(ctx context.Context, t terminal, path string, text bool) error {
	f := reportFlags{viewFlags: viewFlags{inputFlags: inputFlags{err: t.err}}}
	s, err := f.open(path)
	if err != nil {
		return err
	}
	limit := f.threshold(s.config)
	if text {
		if err := overview(t, s, limit, false); err != nil {
			return err
		}
	}
	if s.config, err = config.Parse("demo.yaml", demo.Config()); err != nil {
		return err
	}
	if !text {
		if err := f.analyze(ctx, t, s, tui.Options{Greeting: demoGreeting}); err != nil {
			return err
		}
	}
	termtext.Fprintf(t.out,
		"\nThe server has four problems on purpose. These call paths show them, each with its cost:\n")
	for i, problem := range demo.Truth() {
		termtext.Fprintf(t.out, "\n%d. %s\n", i+1, problem.Name)
		for _, e := range problem.Evidence {
			if err := showEvidence(t, s, e); err != nil {
				return err
			}
		}
		termtext.Fprintf(t.out, "   %s.\n", problem.Lesson)
	}
	termtext.Fprintf(t.out, "\nThis is what cpprof finds by itself ('cpprof why %s'):\n\n",
		words.Shell(path))
	a, err := why.Find(s.recording, why.OptionsOf(s.config, s.options))
	if err != nil {
		return err
	}
	y := report.Why{Answer: a, File: s.path}
	y.Write(t.out)
	return nil
}

func showEvidence(t terminal, s *source, e demo.Evidence) error {
	cost, err := evidenceCost(s, e)
	if err != nil {
		return err
	}
	if cost.Sign() == 0 && e.Holders {
		return nil // the holders of locks are not known in this recording
	}
	_, err = termtext.Fprintf(t.out, "   %s  %s\n", report.Cost(cost), e.Path)
	return err
}

// evidenceCost returns the cost of a path that shows a problem,
// in its view.
func evidenceCost(s *source, e demo.Evidence) (*big.Rat, error) {
	path, err := callpath.Parse(e.Path)
	if err != nil {
		return nil, err
	}
	f := viewFlags{server: e.View == calltree.RootName, thread: e.View}
	v, err := f.view(s)
	if err != nil {
		return nil, err
	}
	return v.Tree.Main().Cost(callpath.Total(v.Tree, v.aspects(), path).Weight), nil
}
