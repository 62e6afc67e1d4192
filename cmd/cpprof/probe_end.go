package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler/probe"
	"github.com/spf13/pflag"
)

// usualRemoval is how long taking probes out may take, unless a person asks
// for more.
const usualRemoval = 5 * time.Second

func addMaxRemoval(f *pflag.FlagSet, d *time.Duration) {
	f.DurationVar(d, "max-removal", usualRemoval,
		"refuse functions if taking their probes out again would take longer; 0 for no bound")
}

// tooLong adds to an error that probes are too many which flags help.
func tooLong(err error) error {
	var e *probe.RemovalError
	if !errors.As(err, &e) {
		return err
	}
	enough := e.Takes + e.Takes/2
	return fmt.Errorf("%w (--counts-only), or allow it (--max-removal %v)", err,
		enough.Round(time.Second)+time.Second)
}

// A countdown is a line that says how many probes are still in the program.
// It appears only if taking them out lasts.
type countdown struct {
	t    terminal
	last time.Time
	said bool
}

const (
	terminalCountdown = 100 * time.Millisecond
	fileCountdown     = time.Second
)

func newCountdown(t terminal) *countdown { return &countdown{t: t} }

// show shows the number; it is called again and again while probes are taken out.
func (c *countdown) show(in int) {
	every := fileCountdown
	if c.t.errIsTerminal {
		every = terminalCountdown
	}
	now := time.Now()
	if c.last.IsZero() {
		c.last = now
	}
	switch {
	case in == 0 && c.said && c.t.errIsTerminal:
		termtext.Fprintf(c.t.err, "\r\x1b[K")
		c.said = false
	case in > 0 && now.Sub(c.last) >= every:
		left := report.Counted(in, "breakpoint")
		if c.t.errIsTerminal {
			termtext.Fprintf(c.t.err, "\r\x1b[Kcpprof: taking the probes out: %s left", left)
		} else {
			termtext.Fprintf(c.t.err, "cpprof: taking the probes out: %s left\n", left)
		}
		c.last, c.said = now, true
	}
}
