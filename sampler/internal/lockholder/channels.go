package lockholder

import "github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"

// A Use is a channel that a goroutine has in a function that sends to it or receives from it.
type Use struct {
	Channel uint64
	Sends   bool // else it receives
}

// A channelUse is a channel that a function sends to or receives from, by value.
type channelUse struct {
	channel value
	sends   bool
}

// A channelTerm is how to find such a channel from a frame.
type channelTerm struct {
	term  *Term
	sends bool
}

// Bounds of what is looked at.
const (
	maxUses  = 16 // of a function
	maxCases = 16 // of a select
)

// Uses appends the channels that a goroutine may send to or receive from, by the functions that it stands in: those that
// something in their frames leads to. Frames come from the innermost to the outermost.
func (a *Analyzer) Uses(dst []Use, frames []unwind.Frame, m Memory) (uses []Use, complete bool) {
	complete = true
	for i := range frames {
		f := &frames[i]
		if f.System {
			continue
		}
		terms, ok := a.channelTerms(f)
		complete = complete && ok
		for _, t := range terms {
			if ch, ok := t.term.eval(&frame{sp: f.SP, m: m}); ok && ch != 0 {
				dst = append(dst, Use{ch, t.sends})
			}
		}
	}
	return dst, complete
}

var noChannels = []channelTerm{}

// channelTerms gives the channels of a frame's place, false where they are not known yet.
func (a *Analyzer) channelTerms(f *unwind.Frame) ([]channelTerm, bool) {
	for int(f.Site) >= len(a.channels) {
		a.channels = append(a.channels, nil)
	}
	if t := a.channels[f.Site]; t != nil {
		return t, true
	}
	if a.left <= 0 {
		return nil, false
	}
	terms := a.learnChannels(f)
	a.channels[f.Site] = terms
	return terms, true
}

func (a *Analyzer) learnChannels(f *unwind.Frame) []channelTerm {
	a.left--
	fn, ok := a.p.Table.Func(f.PC)
	if !ok || f.Exact {
		return noChannels
	}
	c := a.callee(fn.Entry)
	if c.quiet || c.role != roleOther {
		return noChannels
	}
	if !c.scanned {
		a.scan(c)
	}
	if !c.sends {
		return noChannels
	}
	w := a.flowOf(fn)
	if w == nil {
		return noChannels
	}
	i := w.ending(f.PC)
	if i < 0 {
		return noChannels
	}
	s := w.before(i)
	if s == nil {
		return noChannels
	}
	terms := noChannels
	for _, u := range w.channelUses() {
		if t := w.locate(s, u.channel, false, 0); t != nil {
			terms = append(terms, channelTerm{t, u.sends})
		}
	}
	return terms
}

// channelUses lists the channels of a function's operations.
func (w *flow) channelUses() []channelUse {
	if w.uses != nil {
		return w.uses
	}
	w.uses = []channelUse{}
	for i := range w.blocks {
		b := &w.blocks[i]
		if b.in == nil {
			continue
		}
		s := b.in.clone()
		for k := b.first; k <= b.last; k++ {
			if x := &w.code[k]; x.op == opCall && !x.indirect {
				w.noteChannels(s, w.a.callee(x.target).role)
			}
			w.step(s, &w.code[k])
		}
	}
	return w.uses
}

// noteChannels takes note of the channels of one call.
func (w *flow) noteChannels(s *state, r role) {
	m := w.a.machine
	switch r {
	case roleSend, roleReceive:
		w.noteUse(s.regs[m.argument], r == roleSend)
	case roleSelect:
		// The cases are an array of pairs in the frame, the sends first.
		at, ok := w.values.inFrame(s.regs[m.argument])
		sends, known := w.constantOf(s.regs[m.arguments[3]])
		receives, knownToo := w.constantOf(s.regs[m.arguments[4]])
		if !ok || !known || !knownToo {
			return
		}
		for i := int64(0); i < min(sends+receives, maxCases); i++ {
			w.noteUse(s.slot(at+16*i), i < sends)
		}
	}
}

func (w *flow) constantOf(v value) (int64, bool) {
	n := w.values.nodes[v]
	return n.c, n.kind == kConst && n.c >= 0
}

func (w *flow) noteUse(ch value, sends bool) {
	u := channelUse{ch, sends}
	if ch == 0 || len(w.uses) >= maxUses {
		return
	}
	for _, known := range w.uses {
		if known == u {
			return
		}
	}
	w.uses = append(w.uses, u)
}
