package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/why"
)

// Why is the answer to the question why a program is slow.
type Why struct {
	*why.Answer
	File string // of the recording, for commands to continue with
	Top  int    // how many findings the text shows; 0 for all

	Flags []string // with which the search was made, for commands to continue with

	Basis Basis // for JSON

	// ShortNames cuts the middle of long package paths in the text.
	ShortNames bool
	Color      bool
}

// Write writes the findings in plain English, or that there are
// none and why.
func (y *Why) Write(w io.Writer) {
	b := new(strings.Builder)
	shown := first(y.Findings, y.Top)
	verdict := y.Verdict()
	if verdict != "" {
		b.WriteString(paragraph("", y.readable(verdict)))
	}
	withoutCPUs := 0 // findings whose gain is not known for that
	for i, f := range shown {
		if i > 0 || verdict != "" {
			b.WriteByte('\n')
		}
		y.finding(b, i+1, Sentence(f), y.about(f))
		if f.Gain != nil && f.Gain.Silent == why.NoCPUs {
			withoutCPUs++
		}
	}
	if rest := y.Findings[len(shown):]; len(rest) > 0 {
		of := ""
		if slices.ContainsFunc(rest, (*why.Finding).LacksCPU) {
			of = ", also of threads that have no CPU"
		}
		termtext.Fprintf(b, "\n%s%s (--top 0 shows all)\n", Counted(len(rest), "more finding"), of)
	}
	if y.File != "" && slices.ContainsFunc(shown, func(f *why.Finding) bool { return slices.ContainsFunc(f.Parts, isAspect) }) {
		termtext.Fprintf(b, "\nNames with @ stand for kinds of code: cpprof report aspects %s\n", words.Shell(y.File))
	}
	if withoutCPUs > 0 {
		b.WriteString("\n" + paragraph("", "No gain is said of "+Counted(withoutCPUs, "finding")+": "+why.NoCPUs+"."))
	}
	if delayed := y.delayed(); delayed != "" && y.State == why.Slow && !slices.ContainsFunc(y.Findings, (*why.Finding).LacksCPU) {
		b.WriteString("\n" + paragraph("", delayed))
	}
	if text := y.otherClock(); text != "" {
		b.WriteString("\n" + paragraph("", text))
	}
	if y.State == why.Balanced && y.delayed() == "" && y.File != "" {
		termtext.Fprintf(b, "\nIf some calls are slow nevertheless, see what they do: cpprof calls %s\n",
			words.Shell(y.File))
	}
	y.improved(b)
	y.rest(b)
	io.WriteString(w, b.String())
}

// whyWidth is the width at which sentences are wrapped.
const whyWidth = 100

// joined are the words of a number, which stay in one line.
var joined = strings.NewReplacer(" %", "\x00%", " ± ", "\x00±\x00")

// wrapped breaks a sentence into lines of a width, and indents
// all but the first.
func wrapped(text string, indent, width int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(joined.Replace(text)) {
		n := len([]rune(word))
		switch {
		case i == 0:
			column += n
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent + n
		default:
			b.WriteByte(' ')
			column += 1 + n
		}
		b.WriteString(word)
	}
	return strings.ReplaceAll(b.String(), "\x00", " ")
}

// paragraph returns a text in lines of the usual width. A mark
// comes before the first.
func paragraph(mark, text string) string {
	return mark + wrapped(text, len(mark), whyWidth) + "\n"
}

// finding writes one finding.
func (y *Why) finding(b *strings.Builder, number int, sentence string, about []aboutLine) {
	sentence = wrapped(y.readable(termtext.Printable(sentence)), 4, whyWidth)
	termtext.Fprintf(b, "%s\n",
		termtext.Text(y.styled(bold, termtext.Sprintf("%2d. %s", number, termtext.Text(sentence)))))
	for _, l := range about {
		text := termtext.Printable(l.text)
		if l.name != "see" { // which stays in one line, to be copied
			text = wrapped(y.readable(text), 11, whyWidth)
		}
		termtext.Fprintf(b, "    %s %s\n",
			termtext.Text(y.styled(quiet, fmt.Sprintf("%-6s", l.name))), termtext.Text(text))
	}
}

// Styles of text on a terminal.
const (
	bold  = "\x1b[1m"
	quiet = "\x1b[36m"
)

func (y *Why) styled(style, text string) string {
	if !y.Color {
		return text
	}
	return style + text + "\x1b[0m"
}

// A aboutLine is what a finding says to one question.
type aboutLine struct{ name, text string }

// about returns where, why and when a finding is true, and the
// command that shows it.
func (y *Why) about(f *why.Finding) (lines []aboutLine) {
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, aboutLine{name, text})
		}
	}
	add("where", whereText(f))
	add("who", whoText(f))
	name := "why"
	for _, why := range WhyLines(f) {
		add(name, why)
		name = ""
	}
	name = "calls"
	for _, calls := range MeasuredLines(f) {
		add(name, calls)
		name = ""
	}
	add("when", whenText(f, y.From, y.To))
	add("before", beforeText(f))
	add("gain", findingGain(f))
	add("try", f.Remedy)
	add("see", Command(f, y.File, y.Flags...))
	return lines
}

// Details returns all about a finding, in lines that are not
// wrapped: the sentence first.
func (y *Why) Details(f *why.Finding) []string {
	return append([]string{Sentence(f)}, lists.Each(y.about(f),
		func(l aboutLine) string { return strings.TrimSpace(l.name + "  " + l.text) })...)
}

// longestName is the width of names from which their package
// paths are shortened.
const longestName = 40

// readable writes names as people do: the linker's "%2e" in a
// package path is a dot, and nobody writes the fields of the
// structures that are type arguments.
func (y *Why) readable(text string) string {
	text = termtext.FoldStructs(strings.ReplaceAll(text, "%2e", "."))
	if !y.ShortNames {
		return text
	}
	return strings.Join(lists.Each(strings.Split(text, " "),
		func(name string) string { return termtext.ShortenPath(name, longestName) }), " ")
}

// unmarked says that it is not known whether goroutines are
// stuck for good, if so.
func (y *Why) unmarked() string {
	if !y.Unmarked {
		return ""
	}
	return "Whether they are stuck for good is not known: the heap was not marked. "
}

// maxStill limits the places that are listed of goroutines that
// have not moved.
const maxStill = 3

// stillText says how many goroutines have not moved, and where:
// "206 goroutines have not moved (chan send in main.worker)".
func stillText(all []why.Still) string {
	total := lists.Sum(all, func(s why.Still) int { return s.Count })
	var list []string
	for _, s := range all[:min(len(all), maxStill)] {
		text := cmp.Or(s.Reason, "waiting") + " in " + s.Function
		switch {
		case s.Process:
			text = "until a process ends, in " + s.Function
		case s.Place:
			text = "for a place in a semaphore, in " + s.Function
		}
		if s.Waited >= time.Second {
			text += ", " + either(s.Count, "", "one ") + atLeast(s.Waited)
		}
		if len(all) > 1 {
			text = termtext.Sprintf("%d: %s", s.Count, text)
		}
		list = append(list, text)
	}
	if len(all) > maxStill {
		list = append(list, "...")
	}
	return Counted(total, "goroutine") + either(total, " has", " have") + " not moved (" +
		termtext.Printable(strings.Join(list, "; ")) + ")"
}

// improved writes what takes less than in the earlier recording.
func (y *Why) improved(b *strings.Builder) {
	if len(y.Improved) == 0 {
		return
	}
	shown := first(y.Improved, y.Top)
	b.WriteString("\nImproved since the earlier recording, which says:\n")
	for _, f := range shown {
		text := Sentence(f) + " Now: " + cmp.Or(beforeText(f), "none") + "."
		b.WriteString(paragraph("  - ", y.readable(termtext.Printable(text))))
	}
	if more := len(y.Improved) - len(shown); more > 0 {
		termtext.Fprintf(b, "%s (--top 0 shows all)\n", Counted(more, "more improvement"))
	}
}

// maxResting limits the idle classes that are listed.
const maxResting = 4

// rest writes which classes wait without being slow.
func (y *Why) rest(b *strings.Builder) {
	if len(y.Resting) == 0 || y.State == why.TooLittle {
		return
	}
	var resting, waiting, locked, asleep, still, polls []string
	for _, r := range y.Resting {
		if r.Polls != "" && len(y.Findings) == 0 {
			polls = append(polls, r.Polls)
		}
		if r.NotMoved() {
			still = append(still, y.notMoved(r))
			continue
		}
		text := termtext.Sprintf("%s (%s", r.Class, counted(r.Alive))
		switch {
		case r.Idle >= 0.1:
			text += termtext.Sprintf(", %s idle", sharePercent(r.Idle))
			switch {
			case r.Sleeps():
				text += ": it sleeps"
			case r.For != "":
				text += termtext.Sprintf(": it may wait for %s, which sleeps", r.For)
			}
		case r.Does != "":
			text += "; " + r.Does
		}
		lonely := r.Idle < 0.1 && r.Pauses != "" && r.Does != ""
		if r.Pauses != "" && !lonely {
			text += termtext.Sprintf("; for %s, it sleeps in %s", sharePercent(r.Paused), r.Pauses)
		}
		switch {
		case r.WaitsToRun():
			waiting = append(waiting, text+")")
		case r.WaitsForLock():
			locked = append(locked, text+")")
		case lonely:
			asleep = append(asleep, termtext.Sprintf("%s (%s of its life, in %s)", r.Class, sharePercent(r.Paused), r.Pauses))
		default:
			resting = append(resting, text+")")
		}
	}
	for _, s := range y.Beside() {
		if s.Count >= manyStill {
			still = append(still, termtext.Sprintf("%d of %s, in %s", s.Count, s.Class, s.Function))
		}
	}
	var sentences []string
	for _, of := range []struct {
		title   string
		classes []string
	}{{"Sleeping in a loop, and perhaps late to see what it looks for", polls},
		{"Not slow", resting}, {"Mostly waiting for a processor", waiting},
		{"Mostly waiting for a lock, but too seldom seen to be sure", locked},
		{"Asleep in its work, though nobody is known to wait for it", asleep}, {"Not seen to move", still}} {
		if len(of.classes) > 0 {
			sentences = append(sentences, of.title+": "+words.List(of.classes, maxResting)+".")
		}
	}
	b.WriteString("\n" + paragraph("", y.readable(strings.Join(sentences, " "))))
}

// manyStill is how many goroutines of a class have not moved in one
// place, if that is worth telling beside the class.
const manyStill = 3

// notMoved says how many goroutines of a class have not moved, and where.
func (y *Why) notMoved(r why.Resting) string {
	text := r.Class + " (" + counted(r.Alive)
	i := slices.IndexFunc(y.NotMoved, func(s why.Still) bool { return s.Class == r.Class })
	share, stuck := sharePercent(r.Still), ""
	if r.Stuck {
		stuck = "; it can never go on, which may be meant: see 'cpprof stuck'"
	}
	switch {
	case i >= 0 && y.NotMoved[i].Count >= manyStill:
		s := y.NotMoved[i]
		if share != "100 %" || float64(s.Count) < r.Alive {
			return termtext.Sprintf("%d of %s), in %s%s", s.Count, text, s.Function, stuck)
		}
		text += ", in " + s.Function
	case share != "100 %":
		text += ", for " + share + " of their lives"
	}
	return termtext.Sprintf("%s%s)", text, stuck)
}

// Command returns the command line that shows a finding's share,
// to the digit, and what is below it. The flags are those with
// which the search was made, such as its span. It is "" if no
// command does.
func Command(f *why.Finding, file string, flags ...string) string {
	line := append([]string{"cpprof"}, command(f, file)...)
	if slices.Contains([]string{"info", "stuck"}, line[1]) { // of the whole recording
		if line[1] == "info" && slices.Contains(flags, "--span") {
			return ""
		}
		return shellLine(line)
	}
	line = append(line, flags...)
	text := shellLine(line)
	if f.Within != nil { // of flags that are given twice, the last one counts
		text += spanFlag(*f.Within)
	}
	return text
}

func command(f *why.Finding, file string) []string {
	m := f.Measure
	if m == nil {
		name, flags, _ := strings.Cut(f.Words().See, " ")
		line := append([]string{name, file}, strings.Fields(flags)...)
		if f.Slow != nil {
			line = append(line, f.Slow.Function, "--slow", f.Slow.Condition)
		}
		if name == "report" {
			line = append(line, "--thread", f.Class, "--auto")
		}
		return line
	}
	report := []string{"report", file, "--server"}
	if m.Thread != "" {
		report = []string{"report", file, "--thread", m.Thread}
	}
	if m.Path != "" {
		report = append(report, "--extended", m.Path)
		if m.Hits < refine.DefaultMinHits {
			report = append(report, "--min", "0")
		}
		return report
	}
	return append(report, "--prune", m.Keep, "--auto")
}

// shellLine joins words to a command line.
func shellLine(list []string) string {
	return strings.Join(lists.Each(list, words.Shell), " ")
}

// WhyJSON is the output of WriteJSON.
type WhyJSON struct {
	*why.Answer
	Text []WhyText `json:"text"` // by finding
	Basis
}

// A WhyText is a finding in words.
type WhyText struct {
	Finding string   `json:"finding"`
	Where   string   `json:"where"`
	Who     string   `json:"who,omitempty"`
	Why     []string `json:"why,omitempty"`
	Calls   []string `json:"calls,omitempty"` // what probes have measured
	When    string   `json:"when"`
	Gain    string   `json:"gain,omitempty"`
	Try     string   `json:"try"`
	See     string   `json:"see"`
}

// WriteJSON writes the answer as JSON.
func (y *Why) WriteJSON(w io.Writer) error {
	texts := lists.Each(y.Findings, func(f *why.Finding) WhyText {
		return WhyText{Sentence(f), whereText(f), whoText(f), WhyLines(f), MeasuredLines(f),
			whenText(f, y.From, y.To), findingGain(f), f.Remedy, Command(f, y.File, y.Flags...)}
	})
	return writeJSON(w, WhyJSON{y.Answer, texts, y.Basis})
}
