//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// findings are the differences that are larger than chance explains.
type findings struct {
	compared int // number of differences that were checked
	marked   []string
}

// look counts a difference, and notes it if it is off.
func (f *findings) look(off bool, format string, args ...any) string {
	f.compared++
	if !off {
		return ""
	}
	f.marked = append(f.marked, fmt.Sprintf(format, args...))
	return " !!"
}

func (f *findings) print(w io.Writer) {
	fmt.Fprintf(w, "\n%d of %d differences are larger than 3 standard errors (by chance: %.0f)\n", len(f.marked), f.compared, math.Ceil(0.0027*float64(f.compared)))
	for _, m := range f.marked {
		fmt.Fprintln(w, "  !!", m)
	}
}

// print prints a comparison, and adds what is off to the findings.
func (c *comparison) print(w io.Writer, name string, verbose bool, found *findings) {
	fmt.Fprintf(w, "\n== %s: %d samples in %.1f s (%.1f a second, each for at most %.0f ms), halted %.2f %% of the time, cpprof used %.1f %% of a core; %d events, %d collections\n",
		name, c.samples, c.seconds, c.rate, 1000*c.longest, 100*c.halted, 100*c.sampler, c.events, c.collections)
	if c.broken != nil {
		fmt.Fprintf(w, "   the trace is broken: %v\n", c.broken)
	}
	if c.events == 0 { // not traced
		c.printUse(w, name, found)
		return
	}
	fmt.Fprintf(w, "   %-32s %17s %6s %9s %15s %8s %8s %8s %8s\n", "class", "alive: rec traced", "share", "recorded", "traced", "all", "3 s.e.", "class", "when")
	for _, class := range c.order() {
		c.printClass(w, name, class, verbose, found)
	}
	c.printUse(w, name, found)
	c.stable.print(w, name, found)
	for _, warning := range c.warnings {
		if verbose {
			fmt.Fprintf(w, "   warning: %s (%d times)\n", warning.Message, warning.Count)
		}
	}
}

// order returns the classes with enough goroutines, those with the largest
// differences first.
func (c *comparison) order() []string {
	worst := func(class string) (x float64) {
		for m := range numMeasures {
			x = max(x, math.Abs(c.classes[class].figures[m].all()))
		}
		return x
	}
	all := slices.Collect(maps.Keys(c.classes))
	all = slices.DeleteFunc(all, func(class string) bool {
		return max(c.classes[class].recordedAlive, c.classes[class].tracedAlive) < *minAlive
	})
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(-cmp.Compare(worst(a), worst(b)), strings.Compare(a, b)) })
	return all
}

// printClass prints the lines of one class. Those of the
// runtime's classes are left out unless something is off.
func (c *comparison) printClass(w io.Writer, name, class string, verbose bool, found *findings) {
	f := c.classes[class]
	var lines strings.Builder
	before := len(found.marked)
	mark := found.look(math.Abs(f.recordedAlive-f.tracedAlive) > f.aliveBound, "%s %s: %.3f goroutines alive, traced %.3f (± %.3f)",
		name, class, f.recordedAlive, f.tracedAlive, f.aliveBound)
	alive := fmt.Sprintf("%8.2f %8.2f%s", f.recordedAlive, f.tracedAlive, mark)
	shown := class
	for m := range numMeasures {
		g, marks := &f.figures[m], ""
		if m == shareRun && g.most < g.least+0.0005 {
			continue // without system calls it is the same as busy
		}
		for _, d := range []struct {
			what string
			by   float64
		}{{"all", g.all()}, {"class", g.class()}, {"when", g.when()}} {
			marks += found.look(f.recordedAlive > 0 && math.Abs(d.by) > g.bound, "%s %s: %s, %s: %+.3f (± %.3f)", name, class, measures[m].name, d.what, d.by, g.bound)
		}
		if g.recorded < 0.0005 && g.most < 0.0005 && marks == "" {
			continue
		}
		traced := fmt.Sprintf("%.3f", g.least)
		if g.most > g.least+0.0005 {
			traced += fmt.Sprintf(" to %.3f", g.most)
		}
		fmt.Fprintf(&lines, "   %-32.32s %17s %6s %9.3f %15s %+8.3f %8.3f %+8.3f %+8.3f%s\n",
			shown, alive, measures[m].name, g.recorded, traced, g.all(), g.bound, g.class(), g.when(), marks)
		shown, alive = "", ""
	}
	if verbose || len(found.marked) > before || !strings.HasPrefix(class, "go:runtime") {
		io.WriteString(w, lines.String())
	}
}

func (c *comparison) printUse(w io.Writer, name string, found *findings) {
	u := &c.use
	mark := found.look(u.off(), "%s: utilisation %.3f, and %.3f for the runtime itself; CPU clock %.3f (± %.3f)", name, u.recorded, u.own, u.clock, u.bound)
	fmt.Fprintf(w, "   CPUs: Server View %.3f (± %.3f), processors with the runtime's own work %.3f; CPU clock %.3f", u.recorded, u.bound, u.own, u.clock)
	if c.events > 0 {
		fmt.Fprintf(w, "; running in the trace, also without a CPU: %.3f", u.traced)
	}
	fmt.Fprintf(w, "; %+.1f %% of the clock (± %.1f)%s\n", 100*u.difference()/u.clock, 100*u.bound/u.clock, mark)
}

func (s *stability) print(w io.Writer, name string, found *findings) {
	var kinds []string
	total := 0
	for k, n := range s.wrong {
		total += n
		kinds = append(kinds, fmt.Sprintf("%d %v as %v", n, k[0], k[1]))
	}
	slices.Sort(kinds)
	mark := found.look(float64(total) > 0.002*float64(s.checked), "%s: wrong states: %s", name, strings.Join(kinds, ", "))
	fmt.Fprintf(w, "   states: %d did not change around a sample; wrong: %s%s\n", s.checked, cmp.Or(strings.Join(kinds, ", "), "none"), mark)
}
