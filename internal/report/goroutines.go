package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// Goroutines are what every goroutine of a recording did in the
// last sample.
type Goroutines struct{ *sampledata.Recording }

// Write groups goroutines that did the same with the same stack,
// and writes the largest group first. Frames come innermost
// first, each with the line that it executes.
func (of Goroutines) Write(w io.Writer) {
	r := of.Recording
	groups := goroutineGroups(r)
	all := lists.Sum(groups, countOf)
	b := new(strings.Builder)
	termtext.Fprintf(b, "%s: %s, %s\n%s", dumped(r),
		Counted(all, "goroutine"), Counted(len(groups), "different stack"),
		termtext.Text(Warnings(r.Warnings)))
	for _, g := range groups {
		g.write(b)
	}
	io.WriteString(w, b.String())
}

// dumped names the program of a dump, as far as the dump does.
func dumped(r *sampledata.Recording) string {
	var known []string
	if r.Header.PID != 0 {
		known = append(known, "process "+strconv.FormatInt(r.Header.PID, 10))
	}
	if r.Header.GoVersion != "" {
		known = append(known, r.Header.GoVersion)
	}
	name := Program(r)
	if name == "." {
		name = "a program"
	}
	if len(known) > 0 {
		name += " (" + strings.Join(known, ", ") + ")"
	}
	return name
}

// goroutinesJSON is the output of Goroutines.WriteJSON.
type goroutinesJSON struct {
	Command   []string          `json:"command"`
	PID       int64             `json:"pid"`
	GoVersion string            `json:"go_version"`
	Count     int               `json:"goroutines"`
	Groups    []*goroutineGroup `json:"groups"`
	Basis
}

// WriteJSON writes the same as JSON.
func (of Goroutines) WriteJSON(w io.Writer) error {
	r := of.Recording
	j := goroutinesJSON{
		Command: append([]string{}, r.Header.Command...), PID: r.Header.PID,
		GoVersion: r.Header.GoVersion,
		// a recording of one sample is complete
		Groups: goroutineGroups(r), Basis: Basis{Complete: true}.With(r.Warnings),
	}
	j.Count = lists.Sum(j.Groups, countOf)
	return writeJSON(w, j)
}

// A goroutineGroup is the goroutines of one sample that have the
// same state, reason and stack.
type goroutineGroup struct {
	Count   int    `json:"count"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Verdict string `json:"verdict,omitempty"` // "stuck for good" or "may be stuck"
	// it has a processor, but its thread waits for a CPU
	NoCPU bool `json:"no_cpu,omitempty"`
	// the stack does not reach its outermost frame
	Torn       bool              `json:"torn,omitempty"`
	Classes    []goroutineClass  `json:"classes"`
	Labels     []goroutineLabels `json:"labels,omitempty"` // those that have any
	Locks      []goroutineLock   `json:"locks,omitempty"`
	Waits      []goroutineWait   `json:"waits,omitempty"`
	Goroutines []int64           `json:"ids"`
	Frames     []locks.Frame     `json:"frames"` // the innermost first

	stack sampledata.NodeID
}

func countOf(g *goroutineGroup) int { return g.Count }

// goroutineClass is a thread class, with the place where its
// goroutines were created, and their number in a group.
type goroutineClass struct {
	Class     string `json:"class"`
	CreatedBy string `json:"created_by,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int32  `json:"line,omitempty"`
	Count     int    `json:"count"`
}

type goroutineLabels struct {
	Labels map[string]string `json:"labels"`
	Count  int               `json:"count"`

	text string
}

type goroutineLock struct {
	Address  string  `json:"address"`
	Holders  []int64 `json:"holders,omitempty"`
	Evidence string  `json:"evidence,omitempty"` // of the holders
	Count    int     `json:"count"`
}

// goroutineGroups groups the goroutines of the last sample.
func goroutineGroups(r *sampledata.Recording) []*goroutineGroup {
	type key struct {
		run    sampledata.RunState
		reason string
		stack  sampledata.NodeID
		noCPU  bool
		torn   bool
		known  sampledata.Verdict
	}
	verdicts := r.Marking.Verdicts()
	index := make(map[key]*gathering)
	var order []*gathering
	stacks := make(map[sampledata.GoroutineID]sampledata.NodeID)
	for _, run := range r.Runs.All() {
		if int(run.Last) != r.Samples.Len()-1 {
			continue
		}
		stacks[run.Goroutine] = run.Stack
		k := key{run.Run, run.Reason, run.Stack, run.NoCPU, run.Torn,
			verdicts[r.Goroutines.At(run.Goroutine).ID]}
		lists.Made(index, k, func() *gathering {
			order = append(order, newGathering(r, run.State(), k.known, stacks))
			return order[len(order)-1]
		}).add(run)
	}
	groups := lists.Each(order, (*gathering).whole)
	slices.SortFunc(groups, func(a, b *goroutineGroup) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.State, b.State),
			cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.stack, b.stack))
	})
	return groups
}

// A gathering collects the goroutines of a group.
type gathering struct {
	group   *goroutineGroup
	r       *sampledata.Recording
	state   sampledata.State
	classes map[goroutineClass]int // by class, its Count 0
	labels  map[sampledata.LabelSetID]int
	// the locks and other things that they wait for
	locks  map[lockState]int
	stacks map[sampledata.GoroutineID]sampledata.NodeID // the last stacks of all goroutines
}

// A lockState is what is known about the lock, or the other
// thing with an address, that a goroutine waits for.
type lockState struct {
	address  uint64
	holders  sampledata.HolderSetID
	evidence sampledata.Evidence
}

func newGathering(r *sampledata.Recording, s sampledata.State, v sampledata.Verdict,
	stacks map[sampledata.GoroutineID]sampledata.NodeID) *gathering {
	return &gathering{
		group: &goroutineGroup{State: s.Run.String(), Reason: s.Reason, NoCPU: s.NoCPU,
			Torn: s.Torn, Verdict: verdictText(v), Frames: stackFrames(r, s.Stack), stack: s.Stack},
		r: r, state: s, stacks: stacks,
		classes: make(map[goroutineClass]int), labels: make(map[sampledata.LabelSetID]int),
		locks: make(map[lockState]int),
	}
}

func (a *gathering) add(run sampledata.Run) {
	g := a.r.Goroutines.At(run.Goroutine)
	a.group.Goroutines = append(a.group.Goroutines, g.ID)
	c := goroutineClass{Class: "go:unknown", CreatedBy: g.Site.Function, File: g.Site.File,
		Line: g.Site.Line}
	if g.Start >= 0 {
		c.Class = "go:" + a.r.Functions[g.Start].Name
	}
	a.classes[c]++
	if run.Labels != 0 {
		a.labels[run.Labels]++
	}
	if does := views.DoingOf(run); run.Lock != 0 && (does.Waits() || does == views.AwaitingLock) {
		a.locks[lockState{run.Lock, run.Holders, run.Evidence}]++
	}
}

// whole completes the group by what was counted.
func (a *gathering) whole() *goroutineGroup {
	g := a.group
	slices.Sort(g.Goroutines)
	g.Count = len(g.Goroutines)
	for c, n := range a.classes {
		c.Count = n
		g.Classes = append(g.Classes, c)
	}
	slices.SortFunc(g.Classes, func(a, b goroutineClass) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.CreatedBy, b.CreatedBy))
	})
	for id, n := range a.labels {
		l := goroutineLabels{Labels: make(map[string]string), Count: n}
		var words []string
		for _, label := range a.r.LabelSets[id] {
			l.Labels[label.Key] = label.Value
			words = append(words, label.Key+"="+label.Value)
		}
		l.text = strings.Join(words, " ")
		g.Labels = append(g.Labels, l)
	}
	slices.SortFunc(g.Labels, func(a, b goroutineLabels) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.text, b.text))
	})
	for l, n := range a.locks {
		if views.DoingIn(a.state).Waits() {
			g.Waits = append(g.Waits, a.wait(l, n))
		} else {
			g.Locks = append(g.Locks, a.lock(l, n))
		}
	}
	slices.SortFunc(g.Waits, func(a, b goroutineWait) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Address, b.Address),
			slices.CompareFunc(a.Candidates, b.Candidates,
				func(a, b goroutineCandidate) int { return cmp.Compare(a.ID, b.ID) }))
	})
	slices.SortFunc(g.Locks, func(a, b goroutineLock) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Address, b.Address),
			slices.Compare(a.Holders, b.Holders),
			cmp.Compare(a.Evidence, b.Evidence))
	})
	return g
}

func (a *gathering) lock(l lockState, n int) goroutineLock {
	lock := goroutineLock{Address: fmt.Sprintf("%#x", l.address), Count: n}
	if l.holders == 0 {
		return lock
	}
	lock.Evidence = l.evidence.String()
	lock.Holders = lists.Each(a.r.HolderSets[l.holders],
		func(h sampledata.GoroutineID) int64 { return a.r.Goroutines.At(h).ID })
	slices.Sort(lock.Holders)
	return lock
}

// stackFrames lists the frames of a stack, the innermost first.
func stackFrames(r *sampledata.Recording, stack sampledata.NodeID) []locks.Frame {
	frames := []locks.Frame{}
	for stack != sampledata.NoStack {
		frames = append(frames, locks.FrameAt(r, stack))
		stack = r.Nodes[stack].Parent
	}
	return frames
}

// mentioned is the largest number of things of a kind in the
// text; the JSON has all.
const mentioned = 8

// write writes a group: a line with what its goroutines do;
// their classes, labels, locks, waits and ids; and their stack.
func (g *goroutineGroup) write(b *strings.Builder) {
	termtext.Fprintf(b, "\n%d %s", g.Count, g.State)
	if g.Reason != "" {
		termtext.Fprintf(b, ": %s", g.Reason)
	}
	if g.Verdict != "" {
		termtext.Fprintf(b, ", %s", g.Verdict)
	}
	if g.NoCPU {
		b.WriteString(", but without a CPU")
	}
	b.WriteByte('\n')
	mention(b, "class ", g.Classes, func(c goroutineClass) string {
		s := timesText(c.Count, g.Count) + termtext.Printable(c.Class)
		if c.CreatedBy != "" {
			s += ", created by " + termtext.Printable(c.CreatedBy) + place(c.File, c.Line)
		}
		return s
	})
	mention(b, "labels ", g.Labels, func(l goroutineLabels) string {
		return timesText(l.Count, g.Count) + termtext.Printable(l.text)
	})
	mention(b, "lock ", g.Locks, func(l goroutineLock) string {
		s := timesText(l.Count, g.Count) + l.Address
		switch {
		case g.Count == 1 && slices.Equal(l.Holders, g.Goroutines):
			s += ", perhaps held by the goroutine itself"
		case l.Evidence == sampledata.Ambiguous.String():
			s += ", perhaps held by or free for one of " + goids(l.Holders)
		case l.Evidence == sampledata.Free.String():
			s += fmt.Sprintf(", free, %d woken", len(l.Holders))
			if len(l.Holders) > 0 {
				s += ": " + goids(l.Holders)
			}
		case len(l.Holders) > 0:
			s += fmt.Sprintf(", held by %s (%s)", goids(l.Holders), l.Evidence)
		}
		return s
	})
	g.writeWaits(b)
	termtext.Fprintf(b, "  %s\n", goids(g.Goroutines))
	for _, f := range g.Frames {
		termtext.Fprintf(b, "    %s%s", f.Function, place(f.File, f.Line))
		if f.Inlined {
			b.WriteString("  (inlined)")
		}
		b.WriteByte('\n')
	}
	if g.Torn {
		b.WriteString("    ... the rest of the stack could not be read\n")
	}
}

// verdictText returns a verdict that claims something as a text;
// "" for others.
func verdictText(v sampledata.Verdict) string {
	switch v {
	case sampledata.Stuck:
		return v.String()
	case sampledata.Suspected:
		return "may be stuck"
	}
	return ""
}

// mention writes a line for each of the first things of a list.
func mention[T any](b *strings.Builder, what string, list []T, text func(T) string) {
	for _, x := range list[:min(len(list), mentioned)] {
		termtext.Fprintf(b, "  %s%s\n", what, text(x))
	}
	if more := len(list) - mentioned; more > 0 {
		termtext.Fprintf(b, "  %s... %d more\n", what, more)
	}
}

// timesText returns "(2 of 5) " if a line is about 2 of a
// group's 5 goroutines, and "" if it is about all.
func timesText(n, all int) string {
	if n == all {
		return ""
	}
	return fmt.Sprintf("(%d of %d) ", n, all)
}

// place returns two blanks and a position in the source, or ""
// if it is not known.
func place(file string, line int32) string {
	if file == "" {
		return ""
	}
	s := "  " + termtext.Printable(file)
	if line > 0 {
		s += ":" + strconv.Itoa(int(line))
	}
	return s
}

func goids(ids []int64) string {
	return either(len(ids), "goroutine ", "goroutines ") + words.List(ids, mentioned)
}

// goroutineWait is what goroutines of a group wait for, if it is
// known and not a lock: a channel, a sync.WaitGroup or a
// sync.Cond.
type goroutineWait struct {
	Address string `json:"address"`
	// the goroutines that may end the wait
	Candidates []goroutineCandidate `json:"candidates,omitempty"`
	Count      int                  `json:"count"`
}

// goroutineCandidate is a goroutine, and the function of the
// program that it executes.
type goroutineCandidate struct {
	ID int64 `json:"id"`
	locks.Frame
}

// wait describes what n goroutines of a group wait for.
func (a *gathering) wait(l lockState, n int) goroutineWait {
	w := goroutineWait{Address: fmt.Sprintf("%#x", l.address), Count: n}
	for _, g := range a.r.HolderSets[l.holders] {
		c := goroutineCandidate{ID: a.r.Goroutines.At(g).ID}
		if stack, ok := a.stacks[g]; ok {
			if at := views.InformativeFrame(a.r, stack); at != sampledata.NoStack {
				c.Frame = locks.FrameAt(a.r, at)
			}
			w.Candidates = append(w.Candidates, c)
		}
	}
	slices.SortFunc(w.Candidates,
		func(a, b goroutineCandidate) int { return cmp.Compare(a.ID, b.ID) })
	return w
}

// writeWaits writes the waits that have candidates. It leaves
// out the others: an address alone says nothing to a reader.
func (g *goroutineGroup) writeWaits(b *strings.Builder) {
	named := slices.DeleteFunc(slices.Clone(g.Waits),
		func(w goroutineWait) bool { return len(w.Candidates) == 0 })
	mention(b, "waits ", named, func(w goroutineWait) string {
		words := make([]string, len(w.Candidates))
		for i, c := range w.Candidates {
			words[i] = fmt.Sprint(c.ID)
			if c.Function != "" {
				words[i] += " at " + termtext.Printable(c.Function)
			}
			if c.Line > 0 {
				words[i] += fmt.Sprintf(":%d", c.Line)
			}
		}
		return fmt.Sprintf("%son %s, perhaps for %s %s", timesText(w.Count, g.Count), w.Address,
			either(len(words), "goroutine", "goroutines"), strings.Join(words, ", "))
	})
}
