package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// pathShare is the least share of a lock's time at which a call
// path is shown.
var pathShare = big.NewRat(1, 20)

// Locks are the waits for locks in a recording.
type Locks struct {
	Recording *sampledata.Recording
	Analysis  *locks.Analysis
	Top       int // number of locks and of deadlocks that the text shows; 0 for all
	Width     int // of the screen; 0: names are not shortened
}

// Write writes the deadlocks, a table of the locks, and for each
// lock of the table who waited for it, who held it, what the
// holder was doing, and the longest chains.
func (of *Locks) Write(w io.Writer) {
	a, top, width := of.Analysis, of.Top, of.Width
	b := new(strings.Builder)
	writeDeadlocks(b, "", of.Recording, a, top)
	describeOne := func(l *locks.Lock, b *wrapper) string { return describe(a, l, b) }
	termtext.Fprintf(b, "%s\n", LockWaits(a))
	lockTable(b, width, LockHeads(a), a.Locks, first(a.Locks, top), moreLocks,
		func(l *locks.Lock) []string { return LockRow(a, l) }, describeOne)
	if len(a.Shared) > 0 {
		b.WriteString("\n" + paragraph("", SharedWaits(a)))
	}
	lockTable(b, width, []string{"waited", "mean", "hits", "likely", "what"}, a.Shared,
		first(a.Shared, top), func(n int) string { return fmt.Sprintf("%d more", n) },
		func(l *locks.Lock) []string {
			return []string{span(l.Waited()), Decimal(a.Mean(&l.Evidence), 2), Hits(l.Hits),
				percent(l.Share(l.Likely)), termtext.Printable(l.String())}
		}, describeOne)
	b.WriteString(Warnings(a.Held.Warnings))
	io.WriteString(w, b.String())
}

// LockWaits returns a text with the hits of waiting for locks,
// and the share of the time in which the holders are known.
func LockWaits(a *locks.Analysis) string {
	if len(a.Locks) == 0 {
		return "no goroutine was seen waiting for a lock of package sync"
	}
	instances := len(a.Locks)
	if a.By == locks.ByField {
		instances = lists.Sum(a.Locks, func(l *locks.Lock) int { return len(l.Parts) })
	}
	return fmt.Sprintf("%s of waiting for %s; holders: %s", CountedHits(a.Evidence.Hits),
		Counted(instances, "lock"), EvidenceText(&a.Evidence))
}

func moreLocks(n int) string { return Counted(n, "more lock") }

// lockTable writes a table of the locks that are shown, or of
// pairs of locks; how many more there are; and below it each of
// them.
func lockTable[L any](b *strings.Builder, width int, heads []string, all, shown []L,
	more func(int) string, row func(L) []string, describe func(L, *wrapper) string) {
	if len(shown) > 0 {
		t := &table{right: true, width: width, rows: append([][]string{heads}, lists.Each(shown, row)...)}
		b.WriteByte('\n')
		t.write(b)
	}
	if n := len(all) - len(shown); n > 0 {
		termtext.Fprintf(b, "\n%s (--top 0 shows all)\n", more(n))
	}
	for _, l := range shown {
		termtext.Fprintf(b, "\n%s",
			termtext.Text(describe(l, &wrapper{width: lineWidth, screen: width})))
	}
}

// SharedWaits returns a text with the hits of waiting for what
// is no lock, and how it is known who has it; "" if there is
// nothing.
func SharedWaits(a *locks.Analysis) string {
	if len(a.Shared) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of waiting for channels used as locks, semaphores, pools or sockets; who has them: %s",
		CountedHits(a.SharedEvidence.Hits), EvidenceText(&a.SharedEvidence))
	if more := a.SharedUnread.Hits; more.Sign() > 0 {
		text += fmt.Sprintf("; %s more, where it was not read which of several they wait for", CountedHits(more))
	}
	return text
}

// EvidenceText returns a text that says for which shares of the
// time the holders are known, and how.
func EvidenceText(e *locks.Evidence) string {
	var parts []string
	for _, p := range []struct {
		part calltree.Total
		name string
	}{
		{e.Recorded, "recorded"}, {e.Inferred, "inferred"}, {e.Likely, "likely"},
		{e.Ambiguous, "ambiguous"}, {e.Free, freeText(e)},
		{e.None, "unknown"},
	} {
		if p.part.Hits.Sign() > 0 {
			parts = append(parts, percent(e.Share(p.part))+" "+p.name)
		}
	}
	return strings.Join(parts, ", ")
}

// freeText says that nobody held a lock, and how many goroutines
// had been woken to take it, on average.
func freeText(e *locks.Evidence) string {
	if e.Free.Weight.Sign() == 0 {
		return "free"
	}
	return "free (" + Decimal(new(big.Rat).Quo(e.Woken.Weight, e.Free.Weight), 1) + " woken)"
}

// percent formats a share of 1 as a percentage with one decimal.
func percent(share *big.Rat) string {
	return Decimal(new(big.Rat).Mul(share, big.NewRat(100, 1)), 1) + " %"
}

// A lockColumn is a column of the table of locks.
type lockColumn struct {
	head string
	only func(*locks.Analysis) bool // nil: always
	cell func(*locks.Analysis, *locks.Lock) string
}

// hasTimes reports whether it is known how long goroutines
// waited. A dump without a time weighs a nanosecond.
func hasTimes(a *locks.Analysis) bool { return a.Observed != time.Duration(a.Samples) }

// hasInstances reports whether some field has several locks.
func hasInstances(a *locks.Analysis) bool {
	return slices.ContainsFunc(a.Locks, func(l *locks.Lock) bool { return len(l.Parts) > 1 })
}

// lockColumns are the columns of the table, here and in the
// Analyzer. The last one can be long.
var lockColumns = []lockColumn{
	// how long, summed over the goroutines
	{"waited", hasTimes, func(_ *locks.Analysis, l *locks.Lock) string { return span(l.Waited()) }},
	// goroutines that wait
	{"mean", nil, func(a *locks.Analysis, l *locks.Lock) string {
		return Decimal(a.Mean(&l.Evidence), 2)
	}},
	{"hits", nil, func(_ *locks.Analysis, l *locks.Lock) string { return Hits(l.Hits) }},
	// time in which the holder is known
	{"known", nil, func(_ *locks.Analysis, l *locks.Lock) string { return known(l) }},
	// instances
	{"locks", hasInstances,
		func(_ *locks.Analysis, l *locks.Lock) string { return strconv.Itoa(len(l.Parts)) }},
	// time of the one that was waited for most
	{"worst", hasInstances,
		func(_ *locks.Analysis, l *locks.Lock) string {
			return percent(l.Share(l.Parts[0].Total))
		}},
	{"lock", nil, func(_ *locks.Analysis, l *locks.Lock) string {
		return termtext.Printable(l.String())
	}},
}

// known returns the share of the time of waiting in which the
// holder is known. The holder of what is no lock is never known.
func known(l *locks.Lock) string {
	if l == nil || l.Shared {
		return "-"
	}
	return percent(l.Share(l.Known()))
}

// columnsOf returns the columns of the table of an analysis.
func columnsOf(a *locks.Analysis) []lockColumn {
	return slices.DeleteFunc(slices.Clone(lockColumns),
		func(c lockColumn) bool { return c.only != nil && !c.only(a) })
}

// LockHeads returns the heads of the columns of LockRow.
func LockHeads(a *locks.Analysis) []string {
	return lists.Each(columnsOf(a), func(c lockColumn) string { return c.head })
}

// LockRow returns the row of a lock in the table of locks.
func LockRow(a *locks.Analysis, l *locks.Lock) []string {
	return lists.Each(columnsOf(a), func(c lockColumn) string { return c.cell(a, l) })
}

// Lock describes one lock: who waited for it, who held it and
// what they were doing, and the longest chains. It wraps the
// lines at the width if it can.
func Lock(a *locks.Analysis, l *locks.Lock, width int) string {
	return describe(a, l, &wrapper{width: width})
}

func describe(a *locks.Analysis, l *locks.Lock, b *wrapper) string {
	heading := termtext.Printable(l.String())
	if l.Kind != "" && !l.Shared {
		heading += ": " + l.Kind
	} else if l.Address == 0 || !l.Shared {
		heading += ":"
	}
	if l.Address != 0 {
		heading += fmt.Sprintf(" at %#x", l.Address)
	}
	if b.screen > 0 {
		heading = termtext.ShortenPaths(heading, b.screen)
	}
	termtext.Fprintf(b, "%s\n", heading)
	writeInstances(b, l)
	b.WriteString("  waiting\n")
	writeWaiters(b, a, l)
	termtext.Fprintf(b, "  held by (%s)\n", EvidenceText(&l.Evidence))
	if l.Shared {
		writeUsers(b, l)
	} else {
		writeHeld(b, a, l)
	}
	if len(l.Chains) > 0 {
		b.WriteString("  chains\n")
		for _, c := range l.Chains[:min(len(l.Chains), mentioned)] {
			b.entry(4, c.Hits, chainText(c))
		}
		if more := len(l.Chains) - mentioned; more > 0 {
			termtext.Fprintf(b, "    %d more, as long or shorter\n", more)
		}
	}
	return b.String()
}

// writeWaiters writes which classes waited, and in which functions.
func writeWaiters(b *wrapper, a *locks.Analysis, l *locks.Lock) {
	written := make(map[string]bool)
	for _, first := range l.Waiters {
		if written[first.Class] {
			continue
		}
		written[first.Class] = true
		var places []locks.UserTotal
		sum := new(big.Rat)
		for _, w := range l.Waiters {
			if w.Class == first.Class {
				places, sum = append(places, w), sum.Add(sum, w.Hits)
			}
		}
		text := first.Class
		if len(places) == 1 {
			text += takenText(l, &first)
		}
		if share := a.ShareOf(l, first.Class); share != nil {
			text += ": " + percent(share) + " of its time at work"
		}
		b.entry(4, sum, text)
		for i := range places {
			if len(places) > 1 {
				b.entry(6, places[i].Hits, strings.TrimSpace(takenText(l, &places[i])))
			}
		}
	}
}

// takenText says where a class waits, and how, if it does not simply lock.
func takenText(l *locks.Lock, w *locks.UserTotal) (text string) {
	if w.In != "" {
		text = " in " + w.In
	}
	if w.Reason != l.Kind+".Lock" {
		text += " (" + w.Reason + ")"
	}
	return text
}

// writeUsers writes who has what is shared, and who may have it.
func writeUsers(b *wrapper, l *locks.Lock) {
	for i, h := range slices.Concat(l.Holders, l.Candidates) {
		if i == len(l.Holders) {
			b.WriteString("  may be held by\n")
		}
		b.entry(4, h.Hits, h.String())
	}
}

// writeInstances says which of several instances goroutines waited for most.
func writeInstances(b *wrapper, l *locks.Lock) {
	if len(l.Parts) < 2 {
		return
	}
	termtext.Fprintf(b, "  %s\n", Counted(len(l.Parts), "instance"))
	for _, p := range l.Parts[:min(len(l.Parts), mentioned)] {
		text := fmt.Sprintf("instance %d", p.Instance)
		if p.Address != 0 {
			text += fmt.Sprintf(" at %#x", p.Address)
		}
		b.entry(4, p.Hits, text)
	}
	if more := len(l.Parts) - mentioned; more > 0 {
		termtext.Fprintf(b, "    %d more, with less time\n", more)
	}
}

// writeHeld writes the call paths of the holders with their
// hits. It joins calls into one line up to the next fork.
func writeHeld(b *wrapper, a *locks.Analysis, l *locks.Lock) {
	t := a.Held.Tree
	least := new(big.Rat).Mul(l.Weight, pathShare)
	frame := func(n int32) callpath.Element { return callpath.Frame(t.Symbols().Name(t.Funcs()[n])) }
	var write func(n int32, indent int)
	children := func(n int32) (kept []int32) {
		for c := n + 1; c < t.Ends()[n]; c = t.Ends()[c] {
			if t.Main().Cum(c).Cmp(least) >= 0 {
				kept = append(kept, c)
			}
		}
		slices.SortStableFunc(kept,
			func(a, b int32) int { return t.Main().Cum(b).Cmp(t.Main().Cum(a)) })
		return kept
	}
	write = func(n int32, indent int) {
		total := t.Main().Through(n)
		path := callpath.Of(frame(n))
		below := children(n)
		for len(below) == 1 && t.Main().Cum(below[0]).Cmp(total.Weight) == 0 {
			path = path.Then(frame(below[0]), callpath.Immediate)
			below = children(below[0])
		}
		b.entry(indent, total.Hits, path.String())
		for _, c := range below {
			write(c, indent+2)
		}
	}
	for _, c := range children(a.HeldAt(l)) {
		if t.Symbols().Kind(t.Funcs()[c]) == calltree.Class { // otherwise the holder is not known
			write(c, 4)
		}
	}
}

// chainText returns a chain as a sentence: who waits for whom.
func chainText(c *locks.Chain) string {
	b := new(strings.Builder)
	for _, l := range c.Links {
		termtext.Fprintf(b, "%s waits for %s of ", l.Class, l.Lock)
	}
	switch c.End {
	case locks.UnknownHolder:
		b.WriteString("an unknown holder")
	case locks.Cut:
		b.WriteString("...")
	case locks.InDeadlock:
		termtext.Fprintf(b, "%s (deadlock)", c.Class)
	case locks.InCircle:
		termtext.Fprintf(b, "%s (a circle)", c.Class)
	default:
		b.WriteString(c.Class)
	}
	return b.String()
}

// lineWidth is the width at which texts are wrapped.
const lineWidth = 80

// A wrapper builds a text of lines with a width in bytes. A
// character has one byte or more, so no line is wider than that.
type wrapper struct {
	strings.Builder
	width  int
	screen int // the width of the screen: names that would not fit are shortened; 0: no name is
}

// entry writes hits and a text.
func (b *wrapper) entry(indent int, hits *big.Rat, text string) {
	const hitsWidth = 7
	b.wrap(fmt.Sprintf("%*s%*s  ", indent, "", hitsWidth, Hits(hits)), indent+hitsWidth+4,
		termtext.Printable(text))
}

// wrap writes a text, wrapped at blanks. The first line begins
// with line, and the others are indented.
func (b *wrapper) wrap(line string, indent int, text string) {
	words := strings.Split(text, " ")
	if b.screen > 0 {
		for i, word := range words {
			words[i] = termtext.ShortenPath(word, min(b.width, b.screen)-indent)
		}
	}
	for ; len(words) > 0; line = strings.Repeat(" ", indent) {
		n, width := 1, len(line)+len(words[0])
		for n < len(words) && width+1+len(words[n]) <= b.width {
			width += 1 + len(words[n])
			n++
		}
		termtext.Fprintf(b, "%s%s\n", line, strings.Join(words[:n], " "))
		words = words[n:]
	}
}

// DeadlockSpan returns a heading for a deadlock with the time
// from which, and until which, it was seen.
func DeadlockSpan(r *sampledata.Recording, d *locks.Deadlock) string {
	from := span(r.Samples.Time(int(d.First)))
	if d.Seems {
		return "Not moved since " + from + ", and nobody else may hold the lock, as far as is known:"
	}
	until := "to the last sample"
	if int(d.Last) < r.Samples.Len()-1 {
		until = "to " + span(r.Samples.Time(int(d.Last)))
	}
	return fmt.Sprintf("DEADLOCK in %s, from %s %s:", Counted(d.Samples, "sample"), from, until)
}

// writeDeadlocks writes the first top deadlocks (all if top is
// 0) of a recording, and what seem to be some. Each heading begins
// with a prefix.
func writeDeadlocks(b *strings.Builder, prefix string, r *sampledata.Recording,
	a *locks.Analysis, top int) {
	for _, kind := range []struct {
		all  []*locks.Deadlock
		name string
	}{{a.Deadlocks, "more deadlock"}, {a.Seeming, "more wait"}} {
		shown := first(kind.all, top)
		for _, d := range shown {
			termtext.Fprintf(b, "%s%s\n%s\n", prefix, DeadlockSpan(r, d), termtext.Text(Deadlock(d)))
		}
		if more := len(kind.all) - len(shown); more > 0 {
			termtext.Fprintf(b, "%s%s (--top 0 shows all)\n\n", prefix, Counted(more, kind.name))
		}
	}
}

// Deadlocks formats deadlocks, and what seem to be some, as
// warnings: the first ones with a line each, and how many more
// there are.
func Deadlocks(path string, a *locks.Analysis) string {
	b, all := new(strings.Builder), slices.Concat(a.Deadlocks, a.Seeming)
	for _, d := range all[:min(len(all), mentioned)] {
		termtext.Fprintf(b, "warning: %s; see cpprof locks %s\n", DeadlockLine(d), path)
	}
	if more := len(all) - mentioned; more > 0 {
		what := "more deadlock"
		if len(a.Seeming) > 0 {
			what = "more such wait"
		}
		termtext.Fprintf(b, "warning: %s; see cpprof locks --top 0 %s\n", Counted(more, what), path)
	}
	return b.String()
}

// DeadlockLine returns a line that names the goroutines that
// wait for one another.
func DeadlockLine(d *locks.Deadlock) string {
	ids := lists.Each(d.Members, func(m locks.Member) int64 { return m.Goroutine })
	if d.Seems {
		return goids(ids) + " seems to wait for a lock that it holds"
	}
	return fmt.Sprintf("DEADLOCK of %s, %s", goids(ids),
		either(len(ids), "which waits for a lock that it holds", "each waiting for a lock of the next"))
}

// Deadlock describes the goroutines that wait for one another, with their
// stacks, the innermost call first.
func Deadlock(d *locks.Deadlock) string {
	verb := "holds"
	if d.Seems {
		verb = "may hold"
	}
	b := &wrapper{width: lineWidth}
	for i, m := range d.Members {
		next := d.Members[(i+1)%len(d.Members)]
		b.wrap("  ", 4, fmt.Sprintf("goroutine %d (%s) waits for %s, which goroutine %d %s", m.Goroutine,
			termtext.Printable(m.Class), termtext.Printable(m.Lock), next.Goroutine, verb))
		for _, f := range m.Stack {
			termtext.Fprintf(b, "      %s%s\n", f.Function, place(f.File, f.Line))
		}
	}
	return b.String()
}
