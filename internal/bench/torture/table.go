//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"text/tabwriter"
	"time"
)

// An outcome is what came of one attempt, or of several.
type outcome struct {
	times   int   // how often the hardship happened
	harm    error // why the program was harmed, if it was
	skipped error // why the attempt was not possible, if it was not

	signals, lostSignals int64
	bytes, lostBytes     int64
	samples              int64
	unreadable           int64 // recordings
}

// A row sums up the outcomes of one hardship.
type row struct {
	name          string
	tried, harmed int
	outcome
}

func (r *row) add(o outcome) {
	if o.skipped != nil {
		r.skipped = o.skipped
		return
	}
	r.tried++
	if o.harm != nil {
		r.harmed++
	}
	r.times += o.times
	r.signals += o.signals
	r.lostSignals += o.lostSignals
	r.bytes += o.bytes
	r.lostBytes += o.lostBytes
	r.samples += o.samples
	r.unreadable += o.unreadable
}

// good reports whether nothing was harmed or lost.
func (r *row) good() bool {
	return r.harmed == 0 && r.lostSignals == 0 && r.lostBytes == 0 && r.unreadable == 0
}

// A table has a row for each hardship.
type table struct {
	begin time.Time

	mu   sync.Mutex
	rows []*row
	all  row
}

func newTable(chosen []*hardship) *table {
	t := &table{begin: time.Now(), all: row{name: "all"}}
	for _, h := range chosen {
		t.rows = append(t.rows, &row{name: h.name})
	}
	return t
}

func (t *table) add(name string, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.harm != nil {
		fmt.Fprintf(os.Stderr, "torture: %s: %v\n", name, o.harm)
	}
	for _, r := range t.rows {
		if r.name == name {
			r.add(o)
		}
	}
	t.all.add(o)
}

// times returns how often any hardship has happened.
func (t *table) times() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.times
}

// progress says every half a minute how far the torture is,
// until quiet is closed.
func (t *table) progress(out io.Writer, quiet <-chan struct{}) {
	for tick := time.Tick(30 * time.Second); ; {
		select {
		case <-quiet:
			return
		case <-tick:
		}
		t.mu.Lock()
		fmt.Fprintf(out, "torture: %v: %d attempts, %d harmed, %d signals and %d bytes lost\n", time.Since(t.begin).Round(time.Second),
			t.all.tried, t.all.harmed, t.all.lostSignals, t.all.lostBytes)
		t.mu.Unlock()
	}
}

// print reports whether nothing was harmed or lost, something
// was recorded, and every hardship was tried that is possible on
// this machine.
func (t *table) print(out io.Writer) (good bool) {
	good = t.all.good()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%v\ttried\ttimes\tharmed\tsignals\tlost\tbytes\tlost\tsamples\tunreadable\t\n", time.Since(t.begin).Round(time.Second))
	for _, r := range append(t.rows, &t.all) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", r.name, r.tried, r.times, r.harmed, r.signals, r.lostSignals,
			r.bytes, r.lostBytes, r.samples, r.unreadable)
		if r.tried > 0 {
			continue
		}
		if r.skipped == nil {
			r.skipped, good = errors.New("there was no time"), false
		}
		fmt.Fprintf(os.Stderr, "torture: %s was not tried: %v\n", r.name, r.skipped)
	}
	w.Flush()
	if t.all.tried > 0 && t.all.samples == 0 {
		fmt.Fprintln(os.Stderr, "torture: nothing was recorded: is cpprof allowed to trace programs here?")
		good = false
	}
	return good
}
