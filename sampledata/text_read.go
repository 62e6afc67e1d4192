package sampledata

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/memory"
)

// ReadText reads a recording as text. Its errors name the line
// and the column.
//
// A text consists of lines of words. A word is any printable
// characters except blanks, quotes, "=" and "#", or a string in
// quotes as in Go. A "#" at the beginning of a word starts a
// comment, up to the end of the line. Indentation doesn't
// matter. In this grammar, [x] is optional, x... means one or
// more, and the bracketed parts at the end of a line may be in
// any order:
//
//	cpprof recording 1                     # the first line; the lines of the header follow, in any order
//	[command WORD...]
//	[executable PATH] [pid N] [container ID] [go VERSION] [os NAME] [arch NAME] [gomaxprocs N] [clock NAME]   # a line each
//	[start TIME]                           # 2026-01-02T03:04:05.000000006Z
//	[sampler [version=V] [backend=NAME] [rate=HZ] [jitter=SHARE] [max-overhead=SHARE] [max-cpu=CORES] [wakes=HOW]]
//
//	function fN NAME [file=PATH] [line=N]
//	node nN fN [under=nN] [line=N] [inlined]                                  # a stack; under: its caller's
//	goroutine gN GOID [start=fN] [site=FUNCTION] [site-file=PATH] [site-line=N] [parent=GOID] [system] [gc]
//	labels lN KEY=VALUE...
//	holders hN gN...
//	lock 0xN NAME [from=SAMPLE]                                               # SAMPLE counts up from 0
//	monitor mN NAME KIND [layer=LAYER] [real] [unit=TEXT] [source=TEXT] [resolution=TEXT] [unmeasured=TEXT]
//	sample TIME [halt=TIME] [processors=P,...] [threads=N] [stopped-world] [collecting] [missed=N] [cpu=TIME]
//	       [reused=N] [rechecked=N] [wrong=N] [lost-halt=TIME] [suspended=TIME]
//	       [weight=TIME]                                                      # one line; P is gN, idle or system
//	    gN STATE STACK [reason=TEXT] [lock=0xN] [holders=hN] [evidence=inferred|ambiguous|recorded] [release=nN]
//	       [labels=lN] [priority=N] [no-cpu] [torn]                           # one line; STACK is nN or -
//	    gN gone
//	    mN value=VALUE
//	    mN unmeasured
//	probe FUNCTION [file=PATH] [line=N] [by=none|uprobe|breakpoint] [why=TEXT] [note=TEXT] [from=TIME] [returns-up-to=TIME] [to=TIME]
//	      [calls=N] [taken-out] [returned=N] [unfinished=N] [lost=N] [cost=TIME] [elapsed=NUMBERS]   # one line
//	    site CALLER [file=PATH] [line=N] [calls=N] [elapsed=NUMBERS]
//	    argument NAME value|length|pointer [values=NUMBERS]
//	calls FUNCTION [by=uprobe|trace] [note=TEXT] [arguments=NAME,...]
//	    window TIME TIME
//	    timed GOID TIME TIME [cut-begin] [cut-end] [caller=FUNCTION] [file=PATH] [line=N] [label=TEXT] [values=N,...]
//	marking TIME [goroutines=N] [proved] [passes=N] [took=TIME] [apart=TIME] [halted=TIME] [max-halt=TIME] [heap=N]
//	        [needs-halt=TIME] [needs-memory=N] [doubt=TEXT]                   # one line
//	    group VERDICT WAIT [count=N] [ids=N,...] [reason=TEXT] [doubt=TEXT] [waited=TIME] [kept=N] [reaches=N,...]
//	        call FUNCTION [file=PATH] [line=N]                                # innermost first
//	        creator FUNCTION [file=PATH] [line=N]
//	        left FUNCTION [file=PATH] [line=N]
//	warning KIND COUNT MESSAGE
//	end CAUSE [time=TIME] [status=N] [detail=TEXT]                            # the last line
//
// TIME is a duration since the start, such as 1.5ms. Codes count
// up from f0, n0, g0, l1, h1 and m0, and are defined before they
// are used. Lines that begin with gN or mN are part of the
// sample above them, and say what has changed since the previous
// sample. STATE is unknown, running, detached, runnable, waiting
// or blocked; CAUSE is unknown, duration, interrupted, exited,
// killed, exec or failed. The KIND of a monitor is counter,
// level or nominal; LAYER is application, sampled, runtime,
// kernel or hardware; VALUE is a number, or a word if the
// monitor is nominal. NUMBERS are a distribution:
// SUM,MIN,MAX,BUCKET:COUNT,... with at least one bucket. VERDICT
// is "not moved", suspected or "stuck for good"; WAIT is what
// the goroutines of a group wait for. Monitors after the last
// sample are ignored. Parts that are left out are zero, empty or
// not known. A text without an end is a recording that broke
// off.
//
// What is too large for a quarter of the machine's memory is an
// error, too.
func ReadText(in io.Reader) (*Recording, error) { return ReadTextWithin(in, 0) }

// ReadTextWithin is ReadText with another bound on memory, in
// bytes. 0 stands for ReadText's bound.
func ReadTextWithin(in io.Reader, maxMemory int64) (*Recording, error) {
	r := &textReader{budget: memory.NewBudget(maxMemory)}
	lines := bufio.NewReader(in)
	for {
		text, err := readLine(lines, r.budget)
		if tooLarge(err) {
			r.number++
			return nil, r.at(err)
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read recording from text: %w", err)
		}
		if text != "" {
			r.number++
			if err := r.line(strings.TrimSuffix(text, "\n")); err != nil {
				return nil, r.at(err)
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !r.begun {
		return nil, r.at(&textError{line: 1, column: 1, msg: "want " + textMagic})
	}
	if err := r.endSample(); err != nil {
		return nil, r.at(err)
	}
	if err := r.marked.check(); err != nil {
		return nil, r.at(err)
	}
	r.endHeader()
	return r.b.last(), nil
}

type textReader struct {
	budget *memory.Budget
	number int // of the line, from 1
	begun  bool

	header      Header
	headerLines []string // the first words of those that have been read
	b           *Builder // nil while reading the header

	sample     *Sample // that is being read
	sampleLine int
	probed     *Probe     // the last one
	timed      *CallTable // likewise; without its calls
	marked     *Marking   // likewise
	changes    []Change
}

// A line takes this many times its length at most: a word of one
// letter becomes a token.
const lineMemory = 60

// readLine reads up to the end of a line.
func readLine(in *bufio.Reader, budget *memory.Budget) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if tooLong := budget.Fits(int64(len(line)) * lineMemory); tooLong != nil {
			return "", tooLong
		}
		if err != bufio.ErrBufferFull {
			return string(line), err
		}
	}
}

func (r *textReader) at(err error) error {
	line, column := r.number, 1
	if place, ok := errors.AsType[*textError](err); ok {
		line, column = cmp.Or(place.line, line), place.column
	}
	return fmt.Errorf("read recording from text: line %d, column %d: %w", line, column, err)
}

func (r *textReader) line(text string) error {
	tokens, err := scanLine(text)
	if err != nil || len(tokens) == 0 {
		return err
	}
	if !r.begun {
		if strings.Join(strings.Fields(text), " ") != textMagic {
			return tokens[0].errorf("want %s", textMagic)
		}
		r.begun = true
		return nil
	}
	l := &textLine{keyword: tokens[0], rest: tokens[1:], column: len(text) + 1}
	if l.keyword.hasKey {
		return l.keyword.errorf("a line begins with a word, not with a key")
	}
	if _, err := parseCode(l.keyword, "g"); err == nil {
		return l.keep(r.change(l))
	}
	if _, err := parseCode(l.keyword, "m"); err == nil {
		return l.keep(r.value(l))
	}
	if err := r.keyword(l); err != nil {
		return err
	}
	return l.end()
}

// keyword reads a line by its first word.
func (r *textReader) keyword(l *textLine) error {
	if done, err := r.headerLine(l); done {
		return err
	}
	read, ok := textLines[l.keyword.word]
	if !ok {
		return l.keyword.errorf("unknown line %q", l.keyword.word)
	}
	r.endHeader()
	if err := r.endSample(); err != nil {
		return err
	}
	if l.keyword.word != "sample" {
		// what is defined has its words in the line
		if err := r.budget.Take(int64(l.column)); err != nil {
			return err
		}
	}
	if r.b.tables.ended {
		return l.keyword.errorf("nothing may follow the end")
	}
	if err := l.keep(read(r, l)); err != nil {
		return r.locate(l, err)
	}
	return nil
}

// textLines read a line, by its first word.
var textLines = map[string]lineReader{
	"function":  thing(Function{}, functionFields, (*Builder).newFunction),
	"node":      thing(Node{Parent: NoStack}, nodeFields, (*Builder).newNode),
	"goroutine": thing(Goroutine{Start: -1}, goroutineFields, (*Builder).newGoroutine),
	"lock":      thing(LockName{}, lockNameFields, (*Builder).newLockName),
	"end":       thing(End{}, endFields, (*Builder).Finish),
	"labels":    (*textReader).labels, "holders": (*textReader).holders,
	"monitor": (*textReader).monitor, "probe": (*textReader).probe,
	"site": (*textReader).probePart, "argument": (*textReader).probePart,
	"calls": (*textReader).calls, "window": (*textReader).callPart, "timed": (*textReader).callPart,
	"marking": (*textReader).marking, "group": (*textReader).markingPart,
	"edge": (*textReader).markingPart, "call": (*textReader).markedCall,
	"creator": (*textReader).markedCall, "left": (*textReader).markedCall,
	"sample": (*textReader).beginSample, "warning": (*textReader).warning,
}

// locate adds a place to an error that has none, such as one of
// a Builder: the beginning of the line.
func (r *textReader) locate(l *textLine, err error) error {
	if _, ok := errors.AsType[*textError](err); ok {
		return err
	}
	return l.keyword.errorf("%v", err)
}

// endHeader starts the recording, unless that has been done.
func (r *textReader) endHeader() {
	if r.b == nil {
		r.b = NewBuilder(r.header)
		r.b.meter.budget = r.budget
	}
}

// headerLine reads the line if it is one of the header, and
// reports whether it is.
func (r *textReader) headerLine(l *textLine) (done bool, err error) {
	name := l.keyword.word
	h := &r.header
	own := headerFields(h)
	i := slices.IndexFunc(own, func(f field) bool { return f.name == name })
	switch {
	case i < 0 && name != "command" && name != "sampler":
		return false, nil
	case r.b != nil:
		return true, l.keyword.errorf("%s is part of the header: put it before all other lines",
			name)
	case slices.Contains(r.headerLines, name):
		return true, l.keyword.errorf("a second %q", name)
	}
	r.headerLines = append(r.headerLines, name)
	switch name {
	case "command":
		l.words(&h.Command)
	case "sampler":
		l.read(samplerFields(&h.Sampler))
	default:
		l.read([]field{own[i]})
	}
	if err = l.keep(h.check()); err != nil {
		err = r.locate(l, err)
	}
	return true, err
}
