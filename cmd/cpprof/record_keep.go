package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/probe"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// keepFlags say which seconds of a recording are kept, and when.
type keepFlags struct {
	span   time.Duration // 0: all is written
	when   string
	times  int
	memory memory.Size

	parsed  *live.When // of when; nil if that is empty
	metrics metrics.Options

	quota *live.Quota
	full  func() // ends all recordings

	mu      sync.Mutex
	keepers map[*live.Keeper]bool // of the recordings that go on
}

// The shortest and longest time that --keep takes.
const (
	leastKeep = time.Second
	mostKeep  = time.Hour
)

func (f *keepFlags) add(c *cobra.Command) {
	flags := c.Flags()
	addKeep(c, &f.span)
	flags.StringVar(&f.when, "when", "",
		"with --keep: a `PREDICATE` as of --samples, such as 'goroutines.blocked > 100 for 2s' or 'calls(main.handle) > 500ms'")
	addRounds(c, &f.times, 5)
	addMemory(c, &f.memory)
}

// on reports whether only the last seconds are kept.
func (f *keepFlags) on() bool { return f.span > 0 }

// check returns an error if the flags don't fit together.
func (f *keepFlags) check(c *cobra.Command, duration time.Duration) (err error) {
	if c.Flags().Lookup("when") == nil {
		return nil // another command, which keeps all
	}
	if !c.Flags().Changed("keep") {
		if name := firstGiven(c, "when", "count", "max-memory"); name != "" {
			return fmt.Errorf("--%s goes with --keep, such as --keep 60s", name)
		}
		return nil
	}
	switch {
	case f.span < leastKeep || f.span > mostKeep:
		return fmt.Errorf("--keep %v: want a time from %v to %v; without --keep, all is written",
			f.span, leastKeep, mostKeep)
	case duration > 0 && duration <= f.span:
		return fmt.Errorf("--keep %v: --duration %v is not longer: leave --keep out, and all is written",
			f.span, duration)
	case f.times < 1:
		return fmt.Errorf("--count %d: want 1 or more", f.times)
	case f.memory != 0 && f.memory < 16<<20:
		return errors.New("--max-memory: want at least 16MB")
	case f.when == "" && c.Flags().Changed("when"):
		return errors.New("--when is empty: want a predicate, such as 'goroutines.blocked > 100'")
	}
	f.quota = live.NewQuota(f.times)
	if f.memory == 0 {
		f.memory = memory.Size(memory.Default())
	}
	if f.when != "" {
		if f.parsed, err = live.ParseWhen(f.when); err != nil {
			return fmt.Errorf("--when: %w", err)
		}
	}
	config, err := loadConfig("", c.ErrOrStderr())
	f.metrics = metrics.OptionsOf(config, views.Options{})
	return err
}

// checkFunctions returns an error if a process lacks a function of --when.
func (f *keepFlags) checkFunctions(pid int) error {
	if f.parsed == nil || len(f.parsed.Calls()) == 0 {
		return nil
	}
	program, err := probe.OpenPID(pid)
	if err != nil {
		return nil // then the samples say what functions there are
	}
	for _, name := range f.parsed.Calls() {
		if err := program.Has(name); err != nil {
			return usagef("--when: %w", err)
		}
	}
	return nil
}

// watch calls a function at SIGUSR1, until the result is called.
func (f *keepFlags) watch(ask func(reason string)) (stop func()) {
	asked := make(chan os.Signal, 1)
	notify(asked, keepSignals)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-asked:
				ask(fmt.Sprintf("it was asked for (%s)", s))
			}
		}
	}()
	return func() { signal.Stop(asked); close(done) }
}

// ask asks all keepers.
func (f *keepFlags) ask(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range f.keepers {
		k.Ask(reason)
	}
}

// keep returns a sink that keeps the last seconds, and writes
// them into the file or, if that has others already, one that is
// named after the program. Several programs share the memory.
func (f *recordFlags) keep(p *sampler.Process, file string, h sampledata.Header,
	say *narrator) *keptSink {
	next, who := file, ""
	if say.several {
		who = processText(p) + ": "
	}
	k := live.Keep(h, live.KeepOptions{
		Ring: sampledata.RingOptions{Keep: f.kept.span, Memory: int64(f.kept.memory)},
		When: f.kept.parsed, Quota: f.kept.quota, Metrics: f.kept.metrics, Full: f.kept.full,
		Write: func(kept *sampledata.Kept, e sampledata.End) (string, error) {
			if next == "" {
				next = f.outputs.claim(p.Name)
			}
			name := next
			if err := f.outputs.write(name, kept, e); err != nil {
				return name, err
			}
			next = ""
			return name, nil
		},
		Told: func(one live.Keeping) { say.kept(who, one, f.kept.times) },
	})
	f.kept.change(func() { f.kept.keepers[k] = true })
	return &keptSink{k, &f.kept}
}

// change changes which recordings go on, and divides the memory among them.
func (f *keepFlags) change(how func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keepers == nil {
		f.keepers = make(map[*live.Keeper]bool)
	}
	how()
	for k := range f.keepers {
		k.Allow(int64(f.memory) / int64(len(f.keepers)))
	}
}

// A keptSink leaves its memory to the others when it ends.
type keptSink struct {
	*live.Keeper
	f *keepFlags
}

func (s *keptSink) Finish(e sampledata.End) error {
	err := s.Keeper.Finish(e)
	s.f.change(func() { delete(s.f.keepers, s.Keeper) })
	return err
}

// write writes what is kept. After an error, nothing is left of it.
func (o *outputs) write(name string, kept *sampledata.Kept, e sampledata.End) error {
	w, err := o.create(name, kept.Header())
	if err != nil {
		return err
	}
	if err := kept.Replay(w, e); err != nil {
		_ = w.Close()
		return errors.Join(err, os.RemoveAll(name))
	}
	return nil
}

// kept prints what was kept, and why.
func (n *narrator) kept(who string, one live.Keeping, times int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clear()
	if one.Err != nil {
		tell(n.out, "%s%s, but the last seconds can't be kept: %v", who, one.Reason, one.Err)
		return
	}
	n.written = max(n.written, one.Number)
	length := one.Length.Round(100 * time.Millisecond).String()
	if one.Short {
		length += " (--max-memory allows no more)"
	}
	tell(n.out, "%s%s: kept the last %s in %s (%d of %d); next: cpprof why %s",
		who, one.Reason, length, one.Name, one.Number, times, words.Shell(one.Name))
}

// waits prints what --keep waits for.
func (n *narrator) waits(f *keepFlags, pid int, file string) {
	n.keeps, n.times = f.span, f.times
	if !n.live {
		return
	}
	at := "at SIGUSR1, at its end, and at Ctrl-C, which ends the recording"
	if f.when != "" {
		at = "when " + f.when + ", " + at
	}
	tell(n.out, "keeping the last %v of process %d, for %s: %s", f.span, pid, file, at)
}

// endKept prints how a recording with --keep ended.
func (n *narrator) endKept(became string, f *keepFlags) {
	switch written := f.quota.Written(); {
	case written == f.times:
		became = fmt.Sprintf("%s kept, as many as --count allows; %s",
			report.Counted(written, "recording"), became)
	case written == 0:
		became = "nothing was kept; " + became
	default:
		became = fmt.Sprintf("%s kept; %s", report.Counted(written, "recording"), became)
	}
	tell(n.out, "%s", became)
}
