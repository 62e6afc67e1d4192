package sampledata

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const textMagic = "cpprof recording 1"

// WriteText writes a recording as text, in the form that ReadText reads. Its
// output depends only on the recording.
func WriteText(w io.Writer, r *Recording) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("write recording as text: %w", err)
	}
	s := &textSink{out: bufio.NewWriter(w)}
	s.header(&r.Header)
	err := r.replay(s)
	if err == nil {
		err = s.out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write recording as text: %w", err)
	}
	return nil
}

// A textSink writes everything that it receives as lines. It receives each
// thing once, so it can count to assign codes. The bufio.Writer keeps errors
// until the end.
type textSink struct {
	out                                                *bufio.Writer
	functions, nodes, goroutines, labelSets, holderSet int
	monitors                                           []Value     // their latest values
	measured                                           []MonitorID // for the next sample
}

// A line is the words of a line of text.
type line []string

func newLine(words ...string) line { return words }

// set adds key=value, unless the value is zero, which readers assume.
func (l *line) set(key, value string) {
	if value != "" && value != "0" && value != "0s" {
		*l = append(*l, key+"="+value)
	}
}

func (l *line) text(key, value string) {
	if value != "" {
		*l = append(*l, key+"="+quote(value))
	}
}

func (l *line) number(key string, n int64) { l.set(key, strconv.FormatInt(n, 10)) }

func (l *line) flag(name string, on bool) {
	if on {
		*l = append(*l, name)
	}
}

func (s *textSink) line(l line) {
	s.out.WriteString(strings.Join(l, " "))
	s.out.WriteByte('\n')
}

func (s *textSink) header(h *Header) {
	s.line(newLine(textMagic))
	if len(h.Command) > 0 {
		l := newLine("command")
		for _, c := range h.Command {
			l = append(l, quote(c))
		}
		s.line(l)
	}
	for _, f := range []struct{ name, value string }{
		{"executable", h.Executable}, {"pid", strconv.FormatInt(h.PID, 10)}, {"go", h.GoVersion},
		{"os", h.OS}, {"arch", h.Arch},
		{"gomaxprocs", strconv.Itoa(int(h.GOMAXPROCS))},
		{"start", h.Start.UTC().Format(time.RFC3339Nano)}, {"clock", h.Clock},
	} {
		if f.value != "" {
			s.line(newLine(f.name, quote(f.value)))
		}
	}
	l := newLine("sampler")
	l.text("version", h.Sampler.Version)
	l.text("backend", h.Sampler.Backend)
	l.set("rate", float(h.Sampler.RateHz))
	l.set("jitter", float(h.Sampler.Jitter))
	l.set("max-overhead", float(h.Sampler.MaxOverhead))
	l.set("max-cpu", float(h.Sampler.MaxCPU))
	l.text("wakes", h.Sampler.Wakes)
	s.line(l)
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// ascii returns a duration as text in ASCII, with "us" for microseconds.
func ascii(d time.Duration) string { return strings.Replace(d.String(), "µs", "us", 1) }

func code[C ~int32 | ~int](prefix string, c C) string {
	if c < 0 {
		return "-"
	}
	return prefix + strconv.Itoa(int(c))
}

func (s *textSink) Function(f Function) FunctionID {
	l := newLine("function", code("f", s.functions), quote(f.Name))
	l.text("file", f.File)
	l.number("line", int64(f.Line))
	s.line(l)
	s.functions++
	return FunctionID(s.functions - 1)
}

func (s *textSink) Node(n Node) NodeID {
	l := newLine("node", code("n", s.nodes), code("f", n.Function))
	if n.Parent != NoStack {
		l.text("under", code("n", n.Parent))
	}
	l.number("line", int64(n.Line))
	l.flag("inlined", n.Inlined)
	s.line(l)
	s.nodes++
	return NodeID(s.nodes - 1)
}

func (s *textSink) Goroutine(g Goroutine) GoroutineID {
	l := newLine("goroutine", code("g", s.goroutines), strconv.FormatInt(g.ID, 10))
	if g.Start >= 0 {
		l.text("start", code("f", g.Start))
	}
	l.text("site", g.Site.Function)
	l.text("site-file", g.Site.File)
	l.number("site-line", int64(g.Site.Line))
	l.number("parent", g.Parent)
	l.flag("system", g.System)
	l.flag("gc", g.GC)
	s.line(l)
	s.goroutines++
	return GoroutineID(s.goroutines - 1)
}

func (s *textSink) LabelSet(set []Label) LabelSetID {
	s.labelSets++
	l := newLine("labels", code("l", s.labelSets))
	for _, label := range set {
		l = append(l, quote(label.Key)+"="+quote(label.Value))
	}
	s.line(l)
	return LabelSetID(s.labelSets)
}

func (s *textSink) HolderSet(set []GoroutineID) HolderSetID {
	s.holderSet++
	l := newLine("holders", code("h", s.holderSet))
	for _, g := range set {
		l = append(l, code("g", g))
	}
	s.line(l)
	return HolderSetID(s.holderSet)
}

func (s *textSink) LockName(n LockName) {
	l := newLine("lock", address(n.Address), quote(n.Name))
	l.number("from", int64(n.First))
	s.line(l)
}

func address(a uint64) string { return "0x" + strconv.FormatUint(a, 16) }

func (s *textSink) Sample(sample Sample, changes []Change) error {
	l := newLine("sample", ascii(sample.Time))
	l.set("halt", ascii(sample.Halt))
	l.text("processors", processors(sample.Processors))
	l.number("threads", int64(sample.Threads))
	l.flag("stopped-world", sample.StoppedWorld)
	l.flag("collecting", sample.Collecting)
	l.number("missed", int64(sample.Missed))
	l.set("cpu", ascii(sample.SamplerCPU))
	l.number("reused", int64(sample.Reused))
	l.number("rechecked", int64(sample.Rechecked))
	l.number("wrong", int64(sample.Wrong))
	if sample.LostHalt != 0 {
		l.set("lost-halt", ascii(sample.LostHalt))
	}
	if sample.Suspended != 0 {
		l.set("suspended", ascii(sample.Suspended))
	}
	if sample.Weight != 0 {
		l.set("weight", ascii(sample.Weight))
	}
	s.line(l)
	for i := range changes {
		s.change(&changes[i])
	}
	s.values()
	return nil
}

func processors(ps []GoroutineID) string {
	words := make([]string, len(ps))
	for i, p := range ps {
		switch p {
		case IdleProcessor:
			words[i] = "idle"
		case SystemProcessor:
			words[i] = "system"
		default:
			words[i] = code("g", p)
		}
	}
	return strings.Join(words, ",")
}

func (s *textSink) change(c *Change) {
	l := newLine("\t" + code("g", c.Goroutine))
	if c.Gone {
		s.line(append(l, "gone"))
		return
	}
	st := &c.State
	l = append(l, st.Run.String(), code("n", st.Stack))
	l.text("reason", st.Reason)
	if st.Lock != 0 {
		l.text("lock", address(st.Lock))
	}
	if st.Evidence != NoEvidence {
		l.text("holders", code("h", st.Holders))
		l.text("evidence", st.Evidence.String())
	}
	if st.Release != 0 {
		l.text("release", code("n", st.Release.Stack()))
	}
	if st.Labels != 0 {
		l.text("labels", code("l", st.Labels))
	}
	l.number("priority", int64(st.Priority))
	l.flag("no-cpu", st.NoCPU)
	l.flag("torn", st.Torn)
	s.line(l)
}

func (s *textSink) Warn(kind, message string, count int64) {
	s.line(newLine("warning", quote(kind), strconv.FormatInt(count, 10), quote(message)))
}

func (s *textSink) Finish(e End) error {
	l := newLine("end", e.Cause.String())
	l.set("time", ascii(e.Time))
	l.number("status", int64(e.ExitStatus))
	l.text("detail", e.Detail)
	l.number("missed", int64(e.Missed))
	if e.SamplerCPU != 0 {
		l.set("cpu", ascii(e.SamplerCPU))
	}
	if e.LostHalt != 0 {
		l.set("lost-halt", ascii(e.LostHalt))
	}
	s.line(l)
	return nil
}
