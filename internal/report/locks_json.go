package report

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// locksJSON is the output of Locks.WriteJSON. Exact numbers are strings
// such as "5/2".
type locksJSON struct {
	Samples  int           `json:"samples"`
	LengthNS time.Duration `json:"length_ns"`
	WaitedNS time.Duration `json:"waited_ns"` // summed over the goroutines
	Waits    evidenceJSON  `json:"waits"`
	Locks    elements      `json:"locks"` // of lockJSON
	// of lockJSON: channels used as locks, semaphores, pools, sockets
	Shared elements `json:"shared"`
	// hits in the same places, for which of several was not read
	SharedUnread *big.Rat `json:"shared_unread,omitempty"`
	Deadlocks    elements `json:"deadlocks"` // of deadlockJSON
	// goroutines that seem to wait for themselves, which is not proved
	Seeming []deadlockJSON `json:"seeming_deadlocks,omitempty"`
	Basis
}

// evidenceJSON has the hits of waiting, and for how many of them
// the holder is known, and how. The share is one of the time.
type evidenceJSON struct {
	Hits      int64    `json:"hits"`
	Recorded  *big.Rat `json:"recorded"`
	Inferred  *big.Rat `json:"inferred"`
	Likely    *big.Rat `json:"likely"`
	Ambiguous *big.Rat `json:"ambiguous"`
	Free      *big.Rat `json:"free"` // nobody held the lock
	// goroutines that had been woken to take it, summed over these hits
	Woken   *big.Rat `json:"woken"`
	Unknown *big.Rat `json:"unknown"`
	Share   float64  `json:"attributed_share"` // recorded and inferred; without likely
}

func evidenceOf(e *locks.Evidence) evidenceJSON {
	return evidenceJSON{
		e.Hits.Num().Int64(), e.Recorded.Hits, e.Inferred.Hits, e.Likely.Hits, e.Ambiguous.Hits,
		e.Free.Hits, e.Woken.Hits,
		e.None.Hits, float(e.Share(e.Known())),
	}
}

type lockJSON struct {
	Lock     string        `json:"lock"`
	Name     string        `json:"name"`
	Instance int           `json:"instance"`
	Guessed  bool          `json:"guessed"` // the name is the function that takes the lock
	Address  string        `json:"address,omitempty"`
	Type     string        `json:"type,omitempty"`
	Mean     float64       `json:"mean_waiting"`
	WaitedNS time.Duration `json:"waited_ns"`
	Waits    evidenceJSON  `json:"waits"`
	Parts    []partJSON    `json:"instances,omitempty"` // by field
	Waiters  []waiterJSON  `json:"waiters"`
	Holders  []holderJSON  `json:"holders"`
	MayHold  []holderJSON  `json:"may_hold,omitempty"` // of what is shared
	Held     elements      `json:"held"`               // of pathJSON: the call paths of the holders
	Chains   elements      `json:"chains"`             // of chainJSON
}

// partJSON is one of the locks of a field.
type partJSON struct {
	Lock     string        `json:"lock"`
	Instance int           `json:"instance"`
	Address  string        `json:"address,omitempty"`
	Hits     *big.Rat      `json:"hits"`
	WaitedNS time.Duration `json:"waited_ns"`
}

type waiterJSON struct {
	Class    string   `json:"class"`
	Function string   `json:"function,omitempty"` // the function that takes the lock
	Reason   string   `json:"reason"`
	Hits     int64    `json:"hits"`
	Time     *big.Rat `json:"time_ns"`
	// share of the class's time at work in which it waits for
	// the lock, in all functions
	Share float64 `json:"class_share"`
}

type holderJSON struct {
	Class    string `json:"class"`
	Function string `json:"function,omitempty"` // that the holder of what is shared is in
	totalJSON
}

func holdersAsJSON(holders []locks.UserTotal) []holderJSON {
	return lists.Each(holders, func(h locks.UserTotal) holderJSON {
		return holderJSON{h.Class, h.In, jsonOf(h.Total)}
	})
}

type pathJSON struct {
	Frames []string `json:"frames"` // the holder's class first, then as in a Thread View
	totalJSON
}

type chainJSON struct {
	Links []linkJSON `json:"links"`
	End   string     `json:"end"`
	Class string     `json:"class,omitempty"`
	totalJSON
}

// totalJSON has hits and the nanoseconds that they stand for.
type totalJSON struct {
	Hits *big.Rat `json:"hits"`
	Time *big.Rat `json:"time_ns"`
}

func jsonOf(t calltree.Total) totalJSON { return totalJSON{t.Hits, t.Weight} }

type linkJSON struct {
	Class string `json:"class"`
	Lock  string `json:"lock"`
}

type deadlockJSON struct {
	Samples    int            `json:"samples"`
	First      time.Duration  `json:"first_ns"`
	Last       time.Duration  `json:"last_ns"`
	Goroutines []locks.Member `json:"goroutines"`
}

// WriteJSON writes the same as JSON, all locks and all call paths.
func (of *Locks) WriteJSON(w io.Writer) error {
	a, r := of.Analysis, of.Recording
	asJSON := func(d *locks.Deadlock) deadlockJSON {
		return deadlockJSON{Samples: d.Samples, First: r.Samples.Time(int(d.First)),
			Last: r.Samples.Time(int(d.Last)), Goroutines: d.Members}
	}
	return writeJSON(w, locksJSON{
		Samples: a.Samples, LengthNS: a.Length, WaitedNS: a.Evidence.Waited(),
		Waits:        evidenceOf(&a.Evidence),
		Locks:        elementsOf(a.Locks, func(l *locks.Lock) any { return lockAsJSON(a, l) }),
		Shared:       elementsOf(a.Shared, func(l *locks.Lock) any { return lockAsJSON(a, l) }),
		SharedUnread: a.SharedUnread.Hits,
		Deadlocks:    elementsOf(a.Deadlocks, func(d *locks.Deadlock) any { return asJSON(d) }),
		Seeming:      lists.Each(a.Seeming, asJSON),
		Basis:        BasisOf(r).With(a.Held.Warnings),
	})
}

// addressText returns an address; "" if it is not known.
func addressText(address uint64) string {
	if address == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", address)
}

func lockAsJSON(a *locks.Analysis, l *locks.Lock) lockJSON {
	j := lockJSON{
		Lock: l.String(), Name: l.Name, Instance: l.Instance, Guessed: l.Guessed,
		Address: addressText(l.Address), Type: l.Kind,
		Mean: float(a.Mean(&l.Evidence)), WaitedNS: l.Waited(), Waits: evidenceOf(&l.Evidence),
		Waiters: []waiterJSON{}, Holders: holdersAsJSON(l.Holders), Held: heldPaths(a, l),
		Chains: elementsOf(l.Chains, chainAsJSON),
		Parts: lists.Each(l.Parts, func(p locks.Part) partJSON {
			return partJSON{p.Lock, p.Instance, addressText(p.Address), p.Hits, p.Waited()}
		}),
	}
	for _, w := range l.Waiters {
		one := waiterJSON{Class: w.Class, Function: w.In, Reason: w.Reason,
			Hits: w.Hits.Num().Int64(), Time: w.Weight}
		if share := a.ShareOf(l, w.Class); share != nil {
			one.Share = float(share)
		}
		j.Waiters = append(j.Waiters, one)
	}
	if l.Shared {
		j.MayHold = holdersAsJSON(l.Candidates)
	}
	return j
}

func heldPaths(a *locks.Analysis, l *locks.Lock) elements {
	return func(yield func(any) bool) {
		if l.Shared {
			return
		}
		t := a.Held.Tree
		top := a.HeldAt(l)
		for n := top + 1; n < t.Ends()[top]; n++ {
			if own := t.Main().Ending(n); own.Weight.Sign() > 0 &&
				!yield(pathJSON{t.Frames(n)[2:], jsonOf(own)}) {
				return
			}
		}
	}
}

func chainAsJSON(c *locks.Chain) any {
	j := chainJSON{End: c.End.String(), Class: c.Class, totalJSON: jsonOf(c.Total)}
	j.Links = lists.Each(c.Links, func(k locks.Link) linkJSON {
		return linkJSON{k.Class, k.Lock.String()}
	})
	return j
}

// LocksCompared are the waits for locks in two recordings.
type LocksCompared struct {
	Comparison *locks.Comparison
	New, Old   views.Named
	Top, Width int // see Locks
}

// Write writes the deadlocks of each recording, a table of the
// locks, the one whose waiting changed most first, and for each
// of them who waited for it and who held it.
func (of *LocksCompared) Write(w io.Writer) {
	c, a, b, top, width := of.Comparison, of.New, of.Old, of.Top, of.Width
	text := new(strings.Builder)
	writeDeadlocks(text, b.Name+": ", b.Recording, c.Old, top)
	writeDeadlocks(text, a.Name+": ", a.Recording, c.New, top)
	termtext.Fprintf(text, "old is %s: %s\nnew is %s: %s\n", b.Name, LockWaits(c.Old), a.Name,
		LockWaits(c.New))
	for i, side := range []*locks.Analysis{c.Old, c.New} {
		if shared := SharedWaits(side); shared != "" {
			termtext.Fprintf(text, "%s: %s\n", [2]string{"old", "new"}[i], shared)
		}
	}
	lockTable(text, width, PairHeads, c.Pairs, first(c.Pairs, top), moreLocks,
		func(p locks.Pair) []string { return PairRow(&p) },
		func(p locks.Pair, b *wrapper) string { return describePair(c, &p, b) })
	text.WriteString(Warnings(append(c.New.Held.Warnings, c.Old.Held.Warnings...)))
	io.WriteString(w, text.String())
}

// PairHeads are the heads of the columns of PairRow.
var PairHeads = []string{"mean old", "new", "change", "known old", "new", "lock"}

// PairRow returns the row of a pair in the table: how many
// goroutines waited on average, and the share of the waiting in
// which the holder is known.
func PairRow(p *locks.Pair) []string {
	return append(means(p.MeanOld, p.MeanNew), known(p.Old), known(p.New),
		termtext.Printable(p.Name))
}

// means returns two mean numbers of goroutines, and the change.
func means(before, now *big.Rat) []string {
	d := new(big.Rat).Sub(now, before)
	return []string{Decimal(before, 2), Decimal(now, 2), withSign(Decimal(d, 2), d)}
}

// LockPair describes the locks of a pair: who waited for them,
// and who held them. It wraps the lines at the width if it can.
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
		b.means(p, p.String())
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
		return orNil(l, func(l *locks.Lock) lockJSON { return lockAsJSON(of, l) })
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
