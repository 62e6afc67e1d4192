package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/why/stuck"
)

// Stuck is what is known of goroutines that can never run again, as it is printed.
type Stuck struct {
	*stuck.Answer
	Program string
	PID     int64
	Basis   Basis
}

// Write writes the answer as text.
func (s *Stuck) Write(w io.Writer) error {
	b := new(strings.Builder)
	h := s.Heap
	termtext.Fprintf(b, "%s", s.Program)
	if s.PID != 0 {
		fmt.Fprintf(b, " (process %d)", s.PID)
	}
	fmt.Fprintf(b, ": %s, %s\n", Counted(h.Goroutines, "goroutine"), s.summary())
	for _, f := range s.Findings {
		s.writeFinding(b, &f)
	}
	if len(s.Findings) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(s.cost())
	_, err := io.WriteString(w, b.String())
	return err
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
	if len(parts) == 0 {
		return "none is stuck for good"
	}
	return strings.Join(parts, ", ")
}

// cost says what was done to find it out.
func (s *Stuck) cost() string {
	h := s.Heap
	var longest time.Duration
	for _, p := range h.Passes {
		longest = max(longest, p.Halt)
	}
	text := ""
	switch {
	case h.Limit != nil && h.Limit.Halt > 0:
		text = fmt.Sprintf("Found unreachable at %d readings %v apart; --max-halt %v would prove it.\n", len(h.Passes),
			h.Apart.Round(100*time.Millisecond), roundUp(h.Limit.Halt))
	case h.Limit != nil:
		text = fmt.Sprintf("Found unreachable at %d readings %v apart; --max-memory %dMB would prove it.\n", len(h.Passes),
			h.Apart.Round(100*time.Millisecond), h.Limit.Memory>>20+64)
	}
	if len(h.Doubts) > 0 {
		text += "No claim is made: " + strings.Join(h.Doubts, "; ") + ".\n"
	}
	if longest == 0 {
		return text
	}
	last := h.Passes[len(h.Passes)-1]
	return text + fmt.Sprintf("The program was halted %s, for at most %v; its heap has %s.\n", times(len(h.Passes)),
		longest.Round(10*time.Microsecond), megabytes(last.Heap))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// roundUp rounds a duration up to a number that is easy to type.
func roundUp(d time.Duration) time.Duration {
	const step = 10 * time.Millisecond
	return (d + step - 1) / step * step
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// writeFinding writes one cause.
func (s *Stuck) writeFinding(b *strings.Builder, f *stuck.Finding) {
	fmt.Fprintf(b, "\n%s %s: %s\n", Counted(f.Count, "goroutine"), verdictOf(f), causeOf(f))
	for i, g := range f.Groups {
		s.writeGroup(b, "  ", g, f.Lock[i])
	}
	if len(f.Behind) > 0 {
		n := 0
		for _, g := range f.Behind {
			n += len(g.Goroutines)
		}
		fmt.Fprintf(b, "  behind %s:\n", them(len(f.Groups)))
		for i, g := range f.Behind {
			if i == 5 {
				fmt.Fprintf(b, "    and at %d other places\n", len(f.Behind)-i)
				break
			}
			termtext.Fprintf(b, "    %d in %s [%s]\n", len(g.Goroutines), placeIn(g.Frames), g.Reason.Text)
		}
	}
	var more []string
	if f.Waited > 0 {
		more = append(more, fmt.Sprintf("waits for at least %v", f.Waited.Round(time.Second)))
	}
	if f.Kept > 0 {
		more = append(more, "keeps "+megabytes(f.Kept)+" that nothing else needs")
	}
	if len(more) > 0 {
		fmt.Fprintf(b, "  %s\n", strings.Join(more, "; "))
	}
}

func them(groups int) string {
	if groups == 1 {
		return "it"
	}
	return "them"
}

// writeGroup writes goroutines at one place.
func (s *Stuck) writeGroup(b *strings.Builder, indent string, g *heap.Group, lock string) {
	name := ""
	if lock != "" {
		name = " for " + lock
	}
	termtext.Fprintf(b, "%s%s [%s]%s", indent, times(len(g.Goroutines)), g.Reason.Text, name)
	if g.Creator.Func != "" {
		termtext.Fprintf(b, ", created by %s", g.Creator.Func)
	}
	if d := g.Goroutines[0].Doubt; d != "" {
		termtext.Fprintf(b, " (no claim: %s)", d)
	}
	b.WriteString("\n")
	for _, f := range shown(g.Frames) {
		termtext.Fprintf(b, "%s    %s  %s:%d\n", indent, f.Func, f.File, f.Line)
	}
}

// shown leaves out the frames of the runtime and of package sync that every wait has.
func shown(frames []pclntab.Frame) []pclntab.Frame {
	for i, f := range frames {
		if !strings.HasPrefix(f.Func, "runtime.") && !strings.HasPrefix(f.Func, "sync.") && !strings.HasPrefix(f.Func, "internal/sync.") {
			return frames[i:]
		}
	}
	return frames
}

// placeIn returns the innermost function of the program.
func placeIn(frames []pclntab.Frame) string {
	if frames = shown(frames); len(frames) == 0 {
		return "an unknown function"
	}
	return frames[0].Func
}

func verdictOf(f *stuck.Finding) string {
	is := "are"
	if f.Count == 1 {
		is = "is"
	}
	switch f.Verdict {
	case heap.Stuck:
		return is + " stuck for good"
	case heap.Suspected:
		return "may be stuck"
	}
	return is + " where " + map[string]string{"is": "it was", "are": "they were"}[is]
}

// causeOf says whose fault it is.
func causeOf(f *stuck.Finding) string {
	what := endings[f.Groups[0].Wait]
	switch f.Fault {
	case stuck.Circle:
		if f.Sure {
			return "they wait for one another"
		}
		return "they wait for one another: each is the only one that reaches what another one waits for"
	case stuck.Recursive:
		return "a goroutine reads again what it has locked for reading, behind a writer that waits for it"
	case stuck.Itself:
		return "it waits for the lock that it has taken itself, in an outer call"
	case stuck.HolderGone:
		return "no other goroutine that is left reaches the lock: its holder is gone, or it holds the lock itself"
	case stuck.NobodyLeft:
		return fmt.Sprintf("no goroutine that is left can %s", what)
	case stuck.NilChannel:
		return "the channel is nil"
	case stuck.NoCases:
		return "a select without cases never ends"
	}
	if f.Verdict == heap.Stuck {
		return fmt.Sprintf("nothing that can run can %s", what)
	}
	return fmt.Sprintf("nothing was seen that can %s", what)
}

// endings say what would end a wait.
var endings = map[heap.Wait]string{
	heap.ForReceiver: "receive from the channel", heap.ForSender: "send to the channel, or close it",
	heap.ForLock: "give the lock back", heap.ForReadLock: "give the lock back", heap.ForChannels: "use one of the channels",
	heap.ForCondition: "signal the condition", heap.ForGroup: "end the wait of the group",
}
