package interchange

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/maruel/panicparse/v2/stack"
)

// goroutineDump is the format of the stacks that the runtime prints:
// /debug/pprof/goroutine?debug=2, SIGQUIT, and panics. A file may have several
// dumps, one after the other.
var goroutineDump = Format{
	Name:  "goroutines",
	Title: "a goroutine dump",
	Lines: true,
	Sniff: func(s Start) bool { return dumpHead.Match(s.Bytes) },
	Read:  readDumps,
}

var dumpHead = regexp.MustCompile(`(?m)^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]\n]+\]:\r?$`)

var errNoGoroutine = errors.New("there is no goroutine; expected lines such as \"goroutine 1 [running]:\"")

// dumpMemory is about how many bytes of memory a byte of a dump
// takes when it is parsed.
const dumpMemory = 16

// A dumpReader makes a recording of dumps: each is a sample.
type dumpReader struct {
	b     *sampledata.Builder
	codes map[int]sampledata.GoroutineID // by number of the goroutine
	gone  []sampledata.Change            // of all goroutines of the dump before
	last  *stack.Goroutine
}

func readDumps(in *Input, o Options) (*sampledata.Recording, error) {
	budget := memory.NewBudget(o.MaxMemory)
	text, err := io.ReadAll(io.LimitReader(in, budget.Max()/dumpMemory+1))
	if err == nil {
		err = budget.Take(int64(len(text)) * dumpMemory)
	}
	if err != nil {
		return nil, fmt.Errorf("goroutine dump: %w", err)
	}
	r := &dumpReader{
		b: sampledata.NewBuilder(
			sampledata.Header{Sampler: sampledata.Settings{Backend: sampledata.FromDump}}),
		codes: make(map[int]sampledata.GoroutineID),
	}
	samples, rest := 0, text
	for len(rest) > 0 {
		from := rest
		if samples > 0 && !dumpHead.Match(rest) {
			break // what follows the last dump, such as the registers
		}
		unread := bytes.NewReader(rest)
		// what is left is only of what it has read ahead
		snapshot, left, err := scanSnapshot(unread)
		if err != nil && !errors.Is(err, io.EOF) || snapshot == nil && samples == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				err = errNoGoroutine
			}
			return nil, fmt.Errorf("goroutine dump: line %d: %w",
				1+bytes.Count(text[:len(text)-len(from)], []byte("\n")), err)
		}
		if snapshot == nil {
			break
		}
		n, err := r.snapshot(snapshot.Goroutines)
		if err != nil {
			return nil, fmt.Errorf("goroutine dump: %w", err)
		}
		samples += n
		rest = rest[len(rest)-unread.Len()-len(left):]
		if len(rest) >= len(from) {
			break
		}
	}
	if samples == 0 {
		return nil, fmt.Errorf("goroutine dump: %w", errNoGoroutine)
	}
	if err := r.b.Finish(sampledata.End{}); err != nil {
		return nil, err
	}
	rec := r.b.Recording()
	if !isWhole(r.last) {
		warnCut(rec, fmt.Sprintf("the stack of goroutine %d, the last one, does not reach its start", r.last.ID))
	}
	return rec, nil
}

// isWhole reports whether a goroutine of a dump ends as
// goroutines do: with the place that created it, or at the start
// of the program.
func isWhole(g *stack.Goroutine) bool {
	if by := g.CreatedBy.Calls; len(by) > 0 {
		return by[len(by)-1].RemoteSrcPath != ""
	}
	calls := g.Stack.Calls
	if len(calls) == 0 {
		return false
	}
	last := calls[len(calls)-1]
	name := last.Func.Complete
	return last.RemoteSrcPath != "" &&
		(name == "main.main" || strings.HasPrefix(name, "runtime.") || g.ID == 1 &&
			strings.Contains(name, ".init"))
}

// scanSnapshot is stack.ScanSnapshot, which panics if a function has an escape
// in its name, but no dot: "%41".
func scanSnapshot(in io.Reader) (s *stack.Snapshot, left []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the dump that begins there has a function whose name can't be read: %v", p)
		}
	}()
	return stack.ScanSnapshot(in, io.Discard, &stack.Opts{})
}

// snapshot adds the samples of some goroutines, and returns how
// many they are: if a goroutine occurs again, another dump
// begins.
func (r *dumpReader) snapshot(list []*stack.Goroutine) (samples int, err error) {
	for len(list) > 0 {
		seen := make(map[int]bool)
		n := slices.IndexFunc(list, func(g *stack.Goroutine) bool {
			again := seen[g.ID]
			seen[g.ID] = true
			return again
		})
		if n < 0 {
			n = len(list)
		}
		if err := r.sample(list[:n]); err != nil {
			return samples, err
		}
		list = list[n:]
		samples++
	}
	return samples, nil
}

func (r *dumpReader) sample(list []*stack.Goroutine) error {
	changes := make(map[sampledata.GoroutineID]sampledata.Change)
	for _, c := range r.gone {
		changes[c.Goroutine] = c
	}
	r.gone = r.gone[:0]
	for _, g := range list {
		r.last = g
		s, start := r.state(g)
		code := lists.Made(r.codes, g.ID, func() sampledata.GoroutineID { return r.goroutine(g, start) })
		changes[code] = sampledata.Change{Goroutine: code, State: s}
		r.gone = append(r.gone, sampledata.Change{Goroutine: code, Gone: true})
	}
	return r.b.Sample(sampledata.Sample{}, slices.Collect(maps.Values(changes)))
}

// goroutine adds a goroutine to the recording.
func (r *dumpReader) goroutine(g *stack.Goroutine,
	start sampledata.FunctionID) sampledata.GoroutineID {
	as := sampledata.Goroutine{ID: int64(g.ID), Start: start}
	if calls := g.CreatedBy.Calls; len(calls) > 0 {
		function, parent, _ := strings.Cut(calls[0].Func.Complete, " in goroutine ")
		as.Parent, _ = strconv.ParseInt(parent, 10, 64)
		as.Site = sampledata.Site{Function: function, File: calls[0].RemoteSrcPath,
			Line: clampLine(int64(calls[0].Line))}
	}
	return r.b.Goroutine(as)
}

// state returns what a goroutine did, and the outermost function
// of its stack;
// -1 if it has none.
func (r *dumpReader) state(g *stack.Goroutine) (s sampledata.State, start sampledata.FunctionID) {
	s.Stack, start = sampledata.NoStack, -1
	s.Torn = g.Stack.Elided
	calls := g.Stack.Calls
	// it is printed of goroutines that never ran
	if n := len(calls); n > 1 && calls[n-1].Func.Complete == "runtime.goexit" {
		calls = calls[:n-1]
	}
	calls = calls[:min(len(calls), sampledata.MaxDepth)]
	names := lists.Each(calls, func(c stack.Call) string { return c.Func.Complete })
	for _, c := range slices.Backward(calls) {
		name := cmp.Or(c.Func.Complete, "?")
		f := r.b.Function(sampledata.Function{Name: name, File: c.RemoteSrcPath})
		if start < 0 {
			start = f
		}
		s.Stack = r.b.Node(sampledata.Node{Parent: s.Stack, Function: f,
			Line: clampLine(int64(c.Line))})
	}
	switch g.State {
	case "running":
		s.Run = sampledata.Running
	case "runnable":
		s.Run = sampledata.Runnable
	default:
		w := wait{reason: g.State}
		if at := waitAt(names); g.State == "semacquire" && at.reason != "" || at.reason == g.State {
			w = at
		}
		s.Run, s.Reason = sampledata.Waiting, w.reason
		if w.lock {
			s.Run = sampledata.Blocked
		}
	}
	return s, start
}
