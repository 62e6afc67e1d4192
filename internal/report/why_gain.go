package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why"
)

// A Removal says what it would bring if a cost went away.
type Removal struct {
	*why.Removal
	Text string `json:"text"`
	Basis
}

// RemovalOf puts a removal into words.
func RemovalOf(r *why.Removal, basis Basis) *Removal {
	what := "Without "
	if r.Half {
		what += "half of "
	}
	text := cmp.Or(gainText(r.Gain, ""), "not known: "+r.Gain.Silent)
	return &Removal{r, what + r.Target + ": " + text + ".", basis}
}

// Write writes the sentence.
func (r *Removal) Write(w io.Writer) {
	termtext.Fprintf(w, "%s\n",
		termtext.Text(wrapped(termtext.Printable(r.Text), 4, whyWidth)))
}

// WriteJSON writes the removal as JSON.
func (r *Removal) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// hardlyMore is the factor below which a gain is none.
const hardlyMore = 1.05

// muchMore is how many times a finding's share a gain is, if it
// is mostly of those that wait for the finding's goroutines.
const muchMore = 1.2

// findingGain says what the fix of a finding brings; "" if that
// is not known, and the reason is none that tells more.
func findingGain(f *why.Finding) string {
	text := gainText(f.Gain, f.Class)
	if f.Gain != nil && f.Gain.Silent == why.OfAll && f.Gain.Class == f.Class {
		return "not known: " + f.Gain.Silent
	}
	if text == "" {
		return ""
	}
	if f.Gain.Less != nil && f.Gain.Class == f.Class && !f.OfProcessors() && f.Share.Share > 0 &&
		f.Gain.Less.Share > muchMore*f.Share.Share {
		text += "; that counts who waits for these, too"
	}
	if f.Gain.Copied {
		text += "; that counts what is copied, too"
	}
	if stays := f.Words().Stays; stays != "" && f.Gain.Under == nil {
		text += "; " + stays
	}
	return text
}

// gainText says what a gain brings, and to which class unless it
// is the one that the text is about; "" if that is not known.
func gainText(g *why.Gain, about string) string {
	if g == nil || g.Silent != "" {
		return ""
	}
	text := effectText(g)
	for _, more := range []string{thenText(g), underText(g)} {
		if more != "" {
			text += "; " + more
		}
	}
	if g.Class != about {
		return g.Class + ": " + text
	}
	return text
}

// effectText says how much more gets done, or how much less time it takes.
func effectText(g *why.Gain) string {
	switch {
	case g.Law == why.Open:
		return "requests take at most " + aboutShare(*g.Less) + " less time"
	case g.Less != nil:
		return "a piece of work takes at most " + aboutShare(*g.Less) + " less time"
	case g.Times.Times < hardlyMore && g.Next.Centre != why.NoCentre:
		return "hardly any"
	}
	text := factorText(g.Times)
	h := g.Half
	tells := h != nil && h.Times >= hardlyMore && factor(h.Times) != factor(g.Times.Times)
	switch {
	case !g.Unbounded() && tells:
		return text + fmt.Sprintf("; %s times at half the cost", factor(h.Times))
	case tells:
		return "at half the cost, " + factorText(h) + "; without it more, but " + unseen
	case g.Unbounded():
		return unseen
	}
	return text
}

// underText says how much more gets done without what is done
// under a lock, too; "" if that is no more.
func underText(g *why.Gain) string {
	switch u := g.Under; {
	case u == nil || u.Times < hardlyMore*g.Times.Times || g.Unbounded():
		return ""
	case u.High > why.TooMuch:
		return "more if what is done under the lock cost less, too"
	default:
		return factor(u.Times) + " times if what is done under the lock cost nothing, too"
	}
}

// unseen says that a class hardly does anything but wait, so
// that the laws give no bound.
const unseen = "what the limit would be was not seen"

// factorText says how much more work gets done: the factor with
// its interval or, if it is wide, with both ends.
func factorText(w *why.Factor) string {
	if w.High <= 2*w.Low {
		return fmt.Sprintf("at most %s ± %s times as much work gets done", factor(w.Times),
			margin(max(w.High-w.Times, w.Times-w.Low)))
	}
	return fmt.Sprintf("at most %s times as much work gets done (%s to %s)", factor(w.Times), factor(w.Low),
		factor(w.High))
}

// factor formats a factor so that its digits say how exact it is.
func factor(times float64) string {
	switch {
	case times < 1.95:
		return fmt.Sprintf("%.2f", times)
	case times < 9.95:
		return fmt.Sprintf("%.1f", times)
	}
	return fmt.Sprintf("%.0f", times)
}

func margin(m float64) string {
	if m < 0.095 {
		return fmt.Sprintf("%.2f", max(m, 0.01))
	}
	return fmt.Sprintf("%.1f", m)
}

// thenText says what limits the class then.
func thenText(g *why.Gain) string {
	switch {
	case g.Unbounded():
		return ""
	case g.Law == why.Open:
		return "more gets done only if more arrives"
	case g.Law == why.Either:
		return "whether more gets done is not known"
	case g.Next.Centre == why.Processors:
		return "then the processors are full"
	case g.Next.Centre == why.Goroutines:
		return "then its goroutines compute all the time"
	case g.Next.Centre == why.ALock:
		return "then " + g.Next.Name + " is held all the time"
	case g.Next.Does == why.WaitsForWork:
		return "then it mostly sleeps between two pieces of work"
	case g.Next.Does == why.Ready || g.Next.Does == why.NoCPU:
		return "then it mostly " + g.Next.Does.Words()
	case g.Next.Does != "":
		return "then it mostly " + g.Next.Does.Words() + ", in " + g.Next.Name
	}
	return ""
}

// A Together is what several recordings of a program say.
type Together struct {
	Recordings []string      `json:"recordings"`
	Findings   []*why.Common `json:"findings"`
	Text       []string      `json:"text"` // by finding
	Basis

	look  Why // as findings of one recording are written
	short func(recording string) string
}

// NewTogether puts findings of several recordings into words. They look like
// the findings of one.
func NewTogether(recordings []string, all []*why.Common, look Why) *Together {
	t := &Together{Recordings: recordings, Findings: all, Basis: look.Basis, look: look,
		short: views.ShortPaths(recordings)}
	t.Text = lists.Each(all, t.sentence)
	return t
}

// sentence says where a finding holds, and what it is where it costs most.
func (t *Together) sentence(c *why.Common) string {
	var holds []string
	on := "Only on "
	for i, verdict := range c.Holds {
		switch verdict {
		case hotspots.Yes:
			holds = append(holds, t.name(i))
		case hotspots.Maybe:
			on = "At least on "
		}
	}
	if len(holds) == len(c.Holds) {
		return "On all: " + Sentence(c.Finding)
	}
	return on + strings.Join(holds, ", ") + ": " + Sentence(c.Finding)
}

func (t *Together) name(recording int) string { return t.short(t.Recordings[recording]) }

// WriteJSON writes the findings as JSON.
func (t *Together) WriteJSON(w io.Writer) error { return writeJSON(w, t) }

// Write writes the findings, those that hold in most recordings first.
func (t *Together) Write(w io.Writer) {
	var b strings.Builder
	if len(t.Findings) == 0 {
		fmt.Fprintf(&b, "Nothing was seen to be slow in any of %d recordings.\n", len(t.Recordings))
	}
	for i, c := range t.Findings {
		t.look.finding(&b, i+1, t.Text[i], t.about(c))
		b.WriteString("\n")
	}
	io.WriteString(w, b.String())
}

// about returns the shares in all recordings, which one stands
// out, and what the recording says where it costs most.
func (t *Together) about(c *why.Common) (lines []aboutLine) {
	var shares []string
	for i, e := range c.Shares {
		shares = append(shares, t.name(i)+" "+aboutShare(e))
	}
	if len(shares) > 0 {
		of := ""
		if c.Phase {
			of = "of the whole recordings: "
		}
		lines = append(lines, aboutLine{"share", of + strings.Join(shares, ", ")})
	}
	if c.StandsOut >= 0 {
		lines = append(lines, aboutLine{"who", t.name(c.StandsOut) + " stands out"})
	}
	in := Why{Answer: &why.Answer{}, File: t.Recordings[c.In], Flags: t.look.Flags}
	return append(lines, slices.DeleteFunc(in.about(c.Finding),
		func(l aboutLine) bool { return l.name == "when" })...)
}
