package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/monitor"
	"github.com/spf13/cobra"
)

// topFlags are the flags of top: what to show of a running
// program, and how often.
type topFlags struct {
	process  processFlag
	interval time.Duration
	window   time.Duration
	count    int
	sort     string
	order    report.TopOrder
	view     viewFlags
	samplerFlags
}

// The shortest times that make sense.
const (
	minInterval = 100 * time.Millisecond
	usualWindow = 5 * time.Second
)

func newTopCommand(t terminal) *cobra.Command {
	f := topFlags{view: viewFlags{inputFlags: inputFlags{err: t.err}}}
	c := &cobra.Command{
		Use:   "top -p PROCESS",
		Short: "Watch the thread classes and hottest call paths of a running Go program",
		Long: `top samples a running Go program and shows, every second, what its goroutines did in the last few
seconds: a line for each thread class, the busiest first, with a bar of its time, and the call
paths that take most processor time. The letters of a bar, and the percentages beside it, are

  R  RUN      running on a processor
  L  LOAD     ready to run, but a goroutine of the same priority had the processor
  P  PRIO     ready to run, but one of higher priority or the garbage collector had it
  M  MONITOR  waiting for a lock
  W  WAIT     waiting for anything else

On a terminal, keys change the order: the letter of a column, or B for busy, A for alive, C for the
class; r reverses it, i hides idle classes, Space stops the screen, ? lists the keys, q or Ctrl-C
ends. Elsewhere it prints one block after another. It saves nothing: see 'cpprof record'.`,
		Example: `  cpprof top -p 4711
  cpprof top -p 4711 -i 5s --keep 30s
  cpprof top -p 4711 --sort monitor            # who waits most for locks comes first
  cpprof top -p 4711 --samples 'cpu.used > 1'  # only while it used more than one processor
  cpprof top -p 4711 -n 1 | cat                # print one block`,
		Args:    usageArgs(cobra.NoArgs),
		PreRunE: usageArgs(f.check),
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c.Context(), t) },
	}
	flags := c.Flags()
	addProcess(c, &f.process)
	addRounds(c, &f.count, 0)
	flags.DurationVarP(&f.interval, "interval", "i", time.Second, "the time between rounds")
	addKeep(c, &f.window)
	addSort(c, &f.sort, sortColumns()...)
	addSettings(c, &f.view.settings)
	addSampleList(c, &f.view.samples)
	f.samplerFlags.add(c)
	return c
}

// sortColumns returns the values of --sort.
func sortColumns() []string {
	return lists.Each(report.TopColumns, func(c report.TopColumn) string { return c.Name })
}

// check returns an error if a flag has an impossible value.
func (f *topFlags) check(c *cobra.Command, _ []string) error {
	if err := needProcess(c); err != nil {
		return err
	}
	if f.interval < minInterval {
		return fmt.Errorf("--interval %v: want at least %v", f.interval, minInterval)
	}
	if f.count < 0 || f.count == 0 && c.Flags().Changed("count") {
		return fmt.Errorf("-n %d: give the number of refreshes, 1 or more", f.count)
	}
	if !c.Flags().Changed("keep") {
		f.window = max(usualWindow, f.interval)
	}
	if f.order.By = slices.Index(sortColumns(), f.sort); f.order.By < 0 {
		return fmt.Errorf("--sort %s: want %s", f.sort, enumerate(sortColumns(), "or"))
	}
	if f.window < minInterval {
		return fmt.Errorf("--keep %v: want at least %v", f.window, minInterval)
	}
	return f.samplerFlags.check(c)
}

// run attaches to the program, and shows it until something ends top.
func (f *topFlags) run(ctx context.Context, t terminal) error {
	pid, err := f.process.find()
	if err != nil {
		return err
	}
	s, err := f.view.prepared()
	if err != nil {
		return err
	}
	s.path = fmt.Sprintf("process %d", pid)
	if f.view.samples != "" { // which may be by monitors
		if f.options.Monitors, err = monitor.Choose(true, requests(s.config)); err != nil {
			return err
		}
	}
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	p, attach, err := find(t, pid, f.backend)
	if err != nil {
		return err
	}
	defer p.Release()
	feed, err := sampler.StartFeed(ctx, p, sampler.FeedOptions{
		Attach: func(p *sampler.Process) (sampler.Backend, error) {
			return signals.attach(attach, p)
		},
		Least:   4 * f.window,
		Overlap: f.interval,
		Options: f.options,
	})
	if err != nil {
		return sampler.AttachError(pid, err)
	}
	defer feed.Stop()
	if err := f.show(ctx, t, feed, s); err != nil {
		return err
	}
	end, err := feed.Stop()
	if err != nil {
		return err
	}
	became := becameOf(p, end)
	if end.Cause != sampledata.EndInterrupted {
		became = fmt.Sprintf("process %d has ended: %s", p.PID, became)
	}
	tell(t.err, "%s", became)
	return nil
}

// show updates the screen until the end, and then restores it.
func (f *topFlags) show(ctx context.Context, t terminal, feed *sampler.Feed, s *source) error {
	screen, err := openScreen(t)
	if err != nil {
		return err
	}
	screen.order = f.order
	defer screen.close()
	if err := screen.draw([]string{"sampling " + s.path + " ..."}); err != nil {
		return err
	}
	ticks := time.Tick(f.interval)
	for shown := 0; f.count == 0 || shown < f.count; {
		select {
		case <-ctx.Done():
			return nil
		case <-screen.quit:
			return nil
		case <-feed.Ended():
			return nil
		case key := <-screen.keys:
			if err := screen.press(key); err != nil {
				return err
			}
			continue
		case <-ticks:
		}
		r := feed.Recording()
		if r.Samples.Len() == 0 {
			continue
		}
		if err := f.refresh(screen, r, s); err != nil {
			return err
		}
		shown++
	}
	return nil
}

// refresh shows the latest samples of a recording, if --samples
// chooses any of them.
func (f *topFlags) refresh(screen *screen, r *sampledata.Recording, s *source) error {
	counted, why, err := f.view.pickSoFar(s, r)
	if err != nil {
		return err
	}
	if counted == nil {
		return screen.say(why)
	}
	top, err := report.Latest(r, counted, s.config, s.options, f.window)
	if errors.Is(err, report.ErrNoSamples) {
		return screen.say(err.Error())
	}
	if err != nil {
		return err
	}
	return screen.show(top)
}
