package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/cpprof/cpprof/why/stuck"
)

// Stuck is what is known of goroutines that can never run again,
// as it is printed.
type Stuck struct {
	*stuck.Answer
	Program string
	PID     int64
	Basis   Basis

	Deadlocked int // goroutines that the samples show in deadlocks
	Seeming    int // goroutines that seem to wait for a lock that they hold

	sampled bool // it is of a recording, and not of a moment
}

// Unmarked says why it is not known of a recording what is stuck for good.
func Unmarked(r *sampledata.Recording) string {
	why := ""
	for _, w := range r.Warnings {
		if w.Kind == sampledata.UnmarkedHeap {
			why = termtext.Sprintf(" (%s)", w.Message)
		}
	}
	return "the recording does not say what is stuck for good: its program's heap was not marked" + why +
		". Record it again with 'cpprof record', or give a process ('cpprof stuck -p PROCESS')"
}

// StuckOf returns what a recording with a marking says. The
// program is a name.
func StuckOf(r *sampledata.Recording, program string) *Stuck {
	s := &Stuck{Answer: stuck.Find(r), Program: program, PID: r.Header.PID, Basis: BasisOf(r),
		sampled: r.Samples.Len() > 0}
	if a, err := locks.Summarise(r, views.Options{}); err == nil {
		s.Deadlocked = lists.Sum(a.Deadlocks, func(d *locks.Deadlock) int { return len(d.Members) })
		s.Seeming = len(a.Seeming)
	}
	return s
}

// Write writes the answer as text.
func (s *Stuck) Write(w io.Writer) {
	b := new(strings.Builder)
	h := s.Marking
	termtext.Fprintf(b, "%s", s.Program)
	if s.PID != 0 {
		fmt.Fprintf(b, " (process %d)", s.PID)
	}
	fmt.Fprintf(b, ": %s, %s\n", Counted(h.Goroutines, "goroutine"), s.summary())
	if s.Answer.Stuck+s.Others == 0 && s.Deadlocked > 0 {
		fmt.Fprintf(b, "But the samples show %s in a deadlock, which the heap doesn't prove: see 'cpprof locks'.\n",
			Counted(s.Deadlocked, "goroutine"))
	}
	if n := s.Seeming; n > 0 {
		fmt.Fprintf(b, "But %s to wait for a lock that %s: see 'cpprof locks'.\n",
			Counted(n, "goroutine")+either(n, " seems", " seem"), either(n, "it holds", "they hold"))
	}
	for _, f := range s.Findings {
		s.writeFinding(b, &f)
	}
	if len(s.Findings) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(s.cost())
	io.WriteString(w, b.String())
}

// summary says how many goroutines are stuck, and how sure that is.
func (s *Stuck) summary() string {
	var parts []string
	if s.Answer.Stuck > 0 {
		parts = append(parts, fmt.Sprintf("%d of them stuck for good", s.Answer.Stuck))
	}
	if s.Others > 0 {
		parts = append(parts, fmt.Sprintf("%d of them may be stuck", s.Others))
	}
	switch {
	case len(parts) == 0 && s.Marking.Doubt != "":
		return "and whether one is stuck for good could not be found out: " + termtext.Printable(s.Marking.Doubt)
	case len(parts) == 0:
		return "none was found to be stuck for good"
	}
	return strings.Join(parts, ", ")
}

// cost says what was done to find it out.
func (s *Stuck) cost() string {
	m, text := s.Marking, ""
	apart := m.Apart.Round(100 * time.Millisecond)
	switch {
	case s.Answer.Stuck+s.Others == 0: // there is nothing to prove
	case m.NeedsHalt > 0:
		text = fmt.Sprintf("Found unreachable at %d readings %v apart; --max-halt %v would prove it.\n", m.Passes, apart, roundUp(m.NeedsHalt))
	case m.NeedsMemory > 0:
		text = fmt.Sprintf("Found unreachable at %d readings %v apart; --max-memory %dMB would prove it.\n", m.Passes, apart, m.NeedsMemory>>20+64)
	}
	if m.Doubt != "" && s.Answer.Stuck+s.Others > 0 { // the summary has it otherwise
		text += termtext.Sprintf("No claim is made: %s.\n", m.Doubt)
	}
	if m.MaxHalt == 0 {
		return text
	}
	if s.sampled && s.Answer.Stuck > 0 {
		text += fmt.Sprintf("What got stuck after %.1f s of the recording is not counted.\n", (m.Time - m.Apart).Seconds())
	}
	most := "at most "
	if m.Passes == 1 {
		most = ""
	}
	return text + fmt.Sprintf("To find this out, the program was halted %s, for %s%v; its heap has %s, garbage included.\n",
		times(m.Passes), most, m.MaxHalt.Round(10*time.Microsecond), bytesText(float64(m.Heap)))
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// atLeast says how long something took at least, in whole seconds.
func atLeast(d time.Duration) string { return "for at least " + d.Truncate(time.Second).String() }

// roundUp rounds a duration up to a number that is easy to type.
func roundUp(d time.Duration) time.Duration {
	const step = 10 * time.Millisecond
	return (d + step - 1) / step * step
}

// writeFinding writes one cause.
func (s *Stuck) writeFinding(b *strings.Builder, f *stuck.Finding) {
	fmt.Fprintf(b, "\n%s\n", stuckText(f))
	for i, g := range f.Groups {
		termtext.Fprintf(b, "  %s%s\n", groupText(g, f.Lock[i]), heldText(f, i))
		for _, f := range shown(g.Calls) {
			termtext.Fprintf(b, "      %s  %s:%d\n", f.Function, f.File, f.Line)
		}
	}
	if len(f.Behind) > 0 {
		termtext.Fprintf(b, "  behind %s: %s\n", either(len(f.Groups), "it", "them"), behindText(f.Behind))
	}
	if more := keptText(f); more != "" {
		fmt.Fprintf(b, "  %s\n", more)
	}
	fmt.Fprintf(b, "  try: %s\n", f.Remedy())
}

// keptText says since when goroutines wait, and what they keep;
// "" if neither is known.
func keptText(f *stuck.Finding) string {
	var more []string
	if f.Waited >= time.Second {
		more = append(more, either(f.Count, "waits ", "one waits ")+atLeast(f.Waited))
	}
	if f.Kept > 0 {
		more = append(more, "keeps "+bytesText(float64(f.Kept))+" that nothing else needs, stacks included")
	}
	return strings.Join(more, "; ")
}

// behindText lists goroutines that wait for stuck ones.
func behindText(groups []*sampledata.MarkedGroup) string {
	var list []string
	for i, g := range groups {
		if i == mostBehind {
			list = append(list, fmt.Sprintf("and at %d other places", len(groups)-i))
			break
		}
		list = append(list, fmt.Sprintf("%d in %s [%s]", g.Count, placeIn(g.Calls), g.Reason))
	}
	return strings.Join(list, ", ")
}

// mostBehind limits the places that are listed.
const mostBehind = 5

// mainID is the main goroutine's number.
const mainID = 1

// groupText returns how many goroutines are at one place, who
// created them, and what they wait for.
func groupText(g *sampledata.MarkedGroup, name string) string {
	text := Counted(g.Count, "goroutine")
	switch {
	case slices.Contains(g.IDs, mainID):
		text += ", the main one,"
	case g.Creator.Function != "":
		text += ", created by " + g.Creator.Function + ","
	}
	text += either(g.Count, " waits", " wait")
	if name != "" {
		text += " for " + name
	}
	text += " [" + g.Reason + "]"
	if g.Doubt != "" {
		text += " (no claim: " + g.Doubt + ")"
	}
	return text
}

// heldText returns where goroutines in a circle have taken a
// lock, if others in the circle wait for it.
func heldText(f *stuck.Finding, group int) string {
	taken := f.Taken[group]
	if taken == "" || f.Fault != stuck.Circle && f.Fault != stuck.Recursive {
		return ""
	}
	holds := "; may hold"
	if f.Sure {
		holds = "; holds"
	}
	return holds + " a lock that was taken in " + taken
}

// shown leaves out the frames of the runtime and of package sync
// that every wait has.
func shown(frames []sampledata.Call) []sampledata.Call {
	i := slices.IndexFunc(frames, func(f sampledata.Call) bool {
		return !words.HasPrefix(f.Function, "runtime.", "sync.", "internal/sync.")
	})
	return frames[max(i, 0):]
}

// placeIn returns the innermost function of the program.
func placeIn(frames []sampledata.Call) string {
	if frames = shown(frames); len(frames) == 0 {
		return "an unknown function"
	}
	return frames[0].Function
}

func verdictOf(f *stuck.Finding) string {
	switch is := either(f.Count, "is", "are"); f.Verdict {
	case sampledata.Stuck:
		return is + " stuck for good"
	case sampledata.Suspected:
		return "may be stuck"
	default:
		return is + " where " + either(f.Count, "it was", "they were")
	}
}

// stuckText says that goroutines can never run again, and whose
// fault that is.
func stuckText(f *stuck.Finding) string {
	text := Counted(f.Count, "goroutine") + " " + verdictOf(f)
	if n := lists.Sum(f.Behind, func(g *sampledata.MarkedGroup) int { return g.Count }); n > 0 {
		text += fmt.Sprintf(", %d of them behind others", n)
	}
	return text + ": " + causeOf(f)
}

// causeOf says whose fault it is.
func causeOf(f *stuck.Finding) string {
	what := endings[f.Groups[0].Wait]
	switch f.Fault {
	case stuck.Circle:
		if f.Sure {
			return "they wait for one another"
		}
		return "they may wait for one another: no other goroutine that is left can end their waits"
	case stuck.Recursive:
		return "a goroutine reads again what it has locked for reading, behind a writer that waits for it"
	case stuck.Itself:
		return itself(f)
	case stuck.HolderGone:
		return "no goroutine that is left holds the lock: " + notGivenBack(f.Groups[0].Left)
	case stuck.NobodyLeft:
		return fmt.Sprintf("no goroutine that is left can %s", what)
	case stuck.NilChannel:
		if f.Endless() {
			return "the channel is nil: it was not made, or belongs to a context that nobody can cancel"
		}
		return "the channel is nil"
	case stuck.NoCases:
		return "a select without cases never ends"
	}
	if f.Verdict == sampledata.Stuck {
		return fmt.Sprintf("nothing that can run can %s", what)
	}
	return fmt.Sprintf("nothing was seen that can %s", what)
}

// notGivenBack says where functions can return with a lock.
func notGivenBack(left []sampledata.Call) string {
	places := lists.Each(left, func(c sampledata.Call) string {
		return fmt.Sprintf("%s (%s:%d)", c.Function, filepath.Base(c.File), c.Line)
	})
	if len(places) == 0 {
		return "it was not given back"
	}
	return strings.Join(places, " or ") + " can return without giving it back"
}

// itself says that a goroutine waits for itself.
func itself(f *stuck.Finding) string {
	who := "it holds the lock itself"
	if f.Groups[0].Count > 1 {
		who = "each holds the lock itself"
	}
	switch {
	case f.Taken[0] == "":
		return fmt.Sprintf("only it would %s itself, later", endings[f.Groups[0].Wait])
	case !f.Sure:
		who = "it may hold the lock itself"
	}
	return fmt.Sprintf("%s: it was taken in %s", who, f.Taken[0])
}

// endings say what would end a wait.
var endings = map[sampledata.Wait]string{
	sampledata.ForReceiver: "receive from the channel",
	sampledata.ForSender:   "send to the channel, or close it",
	sampledata.ForLock:     "give the lock back", sampledata.ForReadLock: "give the lock back",
	sampledata.ForChannels:  "use one of the channels",
	sampledata.ForCondition: "signal the condition",
	sampledata.ForGroup:     "end the wait of the group",
}

// stuckJSON is the output of Stuck.WriteJSON.
type stuckJSON struct {
	Program     string         `json:"program,omitempty"`
	PID         int64          `json:"pid,omitempty"`
	Goroutines  int            `json:"goroutines"`
	Stuck       int            `json:"stuck"`
	Others      int            `json:"not_proved"`
	Deadlocked  int            `json:"deadlocked,omitempty"` // by the samples
	Seeming     int            `json:"seeming,omitempty"`    // see Stuck
	Findings    []stuckFinding `json:"findings"`
	Proved      bool           `json:"proved"`
	Doubt       string         `json:"doubt,omitempty"`
	Passes      int            `json:"passes"`
	Seconds     float64        `json:"seconds"` // that the passes took
	LongestHalt float64        `json:"longest_halt_ms"`
	Heap        int64          `json:"heap_bytes"`
	MaxHalt     float64        `json:"needs_halt_ms,omitempty"` // what a proof would take
	MaxMemory   int64          `json:"needs_memory,omitempty"`
	Basis
}

type stuckFinding struct {
	Fault   string             `json:"fault"`
	Cause   string             `json:"cause"`
	Remedy  string             `json:"remedy"`
	Verdict sampledata.Verdict `json:"verdict"`
	Count   int                `json:"goroutines"`
	Sure    bool               `json:"holders_inferred"`
	Kept    *int64             `json:"kept_bytes,omitempty"`
	Waited  float64            `json:"waited_seconds,omitempty"`
	Groups  []stuckGroup       `json:"groups"`
	Behind  []stuckGroup       `json:"behind,omitempty"`
}

type stuckGroup struct {
	*sampledata.MarkedGroup
	WaitsFor  string `json:"waits_for,omitempty"`
	TakenIn   string `json:"taken_in,omitempty"` // of the lock that others wait for
	CreatedBy string `json:"created_by,omitempty"`
}

// WriteJSON writes the answer as JSON.
func (s *Stuck) WriteJSON(w io.Writer) error {
	m := s.Marking
	j := stuckJSON{
		Program: s.Program, PID: s.PID, Goroutines: m.Goroutines, Stuck: s.Answer.Stuck,
		Others: s.Others, Deadlocked: s.Deadlocked, Seeming: s.Seeming, Proved: m.Proved,
		Doubt: m.Doubt, Findings: []stuckFinding{}, Passes: m.Passes, Seconds: m.Took.Seconds(),
		LongestHalt: m.MaxHalt.Seconds() * 1e3, Heap: m.Heap, MaxHalt: m.NeedsHalt.Seconds() * 1e3,
		MaxMemory: m.NeedsMemory, Basis: s.Basis,
	}
	for _, f := range s.Findings {
		one := stuckFinding{
			Fault: string(f.Fault), Cause: causeOf(&f), Remedy: f.Remedy(), Verdict: f.Verdict, Count: f.Count,
			Sure: f.Sure, Waited: f.Waited.Seconds(),
		}
		if f.Kept >= 0 {
			one.Kept = &f.Kept
		}
		for i, g := range f.Groups {
			one.Groups = append(one.Groups, stuckGroup{g, f.Lock[i], f.Taken[i], g.Creator.Function})
		}
		one.Behind = lists.Each(f.Behind, func(g *sampledata.MarkedGroup) stuckGroup {
			return stuckGroup{g, g.Name, "", g.Creator.Function}
		})
		j.Findings = append(j.Findings, one)
	}
	return writeJSON(w, j)
}
