//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"text/tabwriter"
	"time"
)

// An outcome is what came of one attempt.
type outcome struct {
	harm    error // why the program was harmed, if it was
	skipped error // why the attempt was not possible, if it was not

	signals, lostSignals int64
	bytes, lostBytes     int64
	samples              int64
	unreadable           int64 // recordings
}

// A row sums up the outcomes of one hardship.
type row struct {
	tried, harmed int
	skipped       error
	outcome
}

// A table has a row for each hardship.
type table struct {
	mu   sync.Mutex
	rows map[string]*row
}

func newTable() *table {
	t := &table{rows: make(map[string]*row)}
	for _, h := range hardships {
		t.rows[h.name] = &row{}
	}
	return t
}

func (t *table) add(name string, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rows[name]
	if o.skipped != nil {
		r.skipped = o.skipped
		return
	}
	r.tried++
	if o.harm != nil {
		r.harmed++
		fmt.Fprintf(os.Stderr, "torture: %s: %v\n", name, o.harm)
	}
	r.signals += o.signals
	r.lostSignals += o.lostSignals
	r.bytes += o.bytes
	r.lostBytes += o.lostBytes
	r.samples += o.samples
	r.unreadable += o.unreadable
}

// print reports whether nothing was harmed or lost, and every hardship was tried that is possible on this machine.
func (t *table) print(out io.Writer, long time.Duration) (good bool) {
	good = true
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%v\ttried\tharmed\tsignals\tlost\tbytes\tlost\tsamples\tunreadable\t\n", long)
	for _, h := range hardships {
		r := t.rows[h.name]
		if r.skipped != nil {
			fmt.Fprintf(os.Stderr, "torture: %s could not be tried: %v\n", h.name, r.skipped)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", h.name, r.tried, r.harmed, r.signals, r.lostSignals, r.bytes, r.lostBytes, r.samples, r.unreadable)
		good = good && r.harmed == 0 && r.lostSignals == 0 && r.lostBytes == 0 && r.unreadable == 0 && (r.tried > 0 || r.skipped != nil)
	}
	w.Flush()
	return good
}
