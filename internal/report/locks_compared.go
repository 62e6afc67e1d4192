package report

import (
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// LocksCompared are the waits for locks in two recordings.
type LocksCompared struct {
	Comparison *locks.Comparison
	New, Old   views.Named
	Top, Width int // see Locks
}

// Write writes the deadlocks of each recording, a table of the locks, the one
// whose waiting changed most first, and for each of them who waited for it and
// who held it.
func (of *LocksCompared) Write(w io.Writer) {
	c, a, b, top, width := of.Comparison, of.New, of.Old, of.Top, of.Width
	text := new(strings.Builder)
	for _, side := range []struct {
		of views.Named
		a  *locks.Analysis
	}{{b, c.Old}, {a, c.New}} {
		writeDeadlocks(text, side.of.Name+": ", side.of.Recording, side.a.Deadlocks, top)
	}
	termtext.Fprintf(text, "old is %s: %s\nnew is %s: %s\n", b.Name, LockWaits(c.Old), a.Name,
		LockWaits(c.New))
	for _, side := range []*locks.Analysis{c.Old, c.New} {
		if shared := SharedWaits(side); shared != "" {
			termtext.Fprintf(text, "%s: %s\n",
				map[bool]string{true: "new", false: "old"}[side == c.New], shared)
		}
	}
	shown := first(c.Pairs, top)
	if len(shown) > 0 {
		t := &table{right: true, width: width}
		t.add(PairHeads...)
		for i := range shown {
			t.add(PairRow(&shown[i])...)
		}
		text.WriteByte('\n')
		t.write(text)
	}
	if more := len(c.Pairs) - len(shown); more > 0 {
		termtext.Fprintf(text, "\n%s (--top 0 shows all)\n", Counted(more, "more lock"))
	}
	for i := range shown {
		termtext.Fprintf(text, "\n%s",
			termtext.Text(describePair(c, &shown[i], &wrapper{width: lineWidth, screen: width})))
	}
	text.WriteString(Warnings(append(c.New.Held.Warnings, c.Old.Held.Warnings...)))
	io.WriteString(w, text.String())
}

// PairHeads are the heads of the columns of PairRow.
var PairHeads = []string{"mean old", "new", "change", "known old", "new", "lock"}

// PairRow returns the row of a pair in the table: how many goroutines waited
// on average, and the share of the waiting in which the holder is known.
func PairRow(p *locks.Pair) []string {
	return append(means(p.MeanOld, p.MeanNew), known(p.Old), known(p.New),
		termtext.Printable(p.Name))
}

// means returns two mean numbers of goroutines, and the change.
func means(before, now *big.Rat) []string {
	d := new(big.Rat).Sub(now, before)
	return []string{Decimal(before, 2), Decimal(now, 2), withSign(Decimal(d, 2), d)}
}

// LockPair describes the locks of a pair: who waited for them, and who held
// them. It wraps the lines at the width if it can.
func LockPair(c *locks.Comparison, p *locks.Pair, width int) string {
	return describePair(c, p, &wrapper{width: width})
}

func describePair(c *locks.Comparison, p *locks.Pair, b *wrapper) string {
	heading := termtext.Printable(p.Name) + ":"
	for _, l := range []*locks.Lock{p.New, p.Old} {
		if l != nil && l.Kind != "" && !l.Shared {
			heading += " " + l.Kind
			break
		}
	}
	if b.screen > 0 {
		heading = termtext.ShortenPaths(heading, b.screen)
	}
	termtext.Fprintf(b, "%s\n  waiting: %6s %6s  %6s\n", heading, "old", "new", "change")
	for _, w := range c.Waiters(p) {
		text := w.Class
		if w.In != "" {
			text += " in " + w.In
		}
		b.means(w, text)
	}
	for i, l := range []*locks.Lock{p.Old, p.New} {
		if l != nil {
			termtext.Fprintf(b, "  held, %s: %s\n", [2]string{"old", "new"}[i],
				EvidenceText(&l.Evidence))
		}
	}
	b.users(c.Holders(p))
	if candidates := c.Candidates(p); len(candidates) > 0 {
		b.WriteString("  may be held by\n")
		b.users(candidates)
	}
	return b.String()
}

// users writes who held a lock, or has what is shared.
func (b *wrapper) users(parts []locks.ComparedPart) {
	for _, p := range parts {
		h := locks.Holder{Class: p.Class, In: p.In}
		b.means(p, h.String())
	}
}

// means writes a part of the waiting.
func (b *wrapper) means(p locks.ComparedPart, text string) {
	m := means(p.MeanOld, p.MeanNew)
	line := fmt.Sprintf("           %6s %6s  %6s  ", m[0], m[1], m[2])
	b.wrap(line, len(line), termtext.Printable(text))
}

// lockPairJSON is the locks of one name in two recordings as data.
type lockPairJSON struct {
	Lock       string    `json:"lock"`
	MeanNew    float64   `json:"mean_waiting_new"`
	MeanOld    float64   `json:"mean_waiting_old"`
	Difference float64   `json:"difference"`
	New        *lockJSON `json:"new"` // null if nobody waited for it
	Old        *lockJSON `json:"old"`
}

// lockPairsJSON is the output of LocksCompared.WriteJSON.
type lockPairsJSON struct {
	New   string   `json:"new"` // names of the recordings
	Old   string   `json:"old"`
	Locks elements `json:"locks"` // of lockPairJSON
	Basis
}

// WriteJSON writes all locks as JSON, with all that Locks has of each.
func (of *LocksCompared) WriteJSON(w io.Writer) error {
	c := of.Comparison
	warnings := append(c.New.Held.Warnings, c.Old.Held.Warnings...)
	side := func(of *locks.Analysis, l *locks.Lock) *lockJSON {
		if l == nil {
			return nil
		}
		j := lockAsJSON(of, l)
		return &j
	}
	pairs := elementsOf(c.Pairs, func(p locks.Pair) any {
		return lockPairJSON{
			Lock: p.Name, MeanNew: float(p.MeanNew), MeanOld: float(p.MeanOld),
			Difference: float(new(big.Rat).Sub(p.MeanNew, p.MeanOld)),
			New:        side(c.New, p.New), Old: side(c.Old, p.Old),
		}
	})
	return writeJSON(w, lockPairsJSON{of.New.Name, of.Old.Name, pairs,
		BasisOf(of.New.Recording, of.Old.Recording).With(warnings)})
}
