package report

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/locks"
)

// A lock that nobody holds is free, and not of unknown holder. On average 1.5 goroutines had been woken for it.
func TestFreeLock(t *testing.T) {
	total := func(n int64) calltree.Total {
		return calltree.Total{Weight: big.NewRat(1000*n, 1), Hits: big.NewRat(n, 1)}
	}
	e := &locks.Evidence{
		Total: total(10), Recorded: total(0), Inferred: total(5), Likely: total(0), Ambiguous: total(0), Free: total(4),
		Woken: total(6), None: total(1),
	}
	if got, want := evidenceText(e), "50.0 % inferred, 40.0 % free (1.5 woken), 10.0 % unknown"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
