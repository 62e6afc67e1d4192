package delve

import (
	"errors"
	"fmt"
	"maps"
	"net/rpc"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-delve/delve/pkg/dwarf/regnum"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

const (
	pageSize  = 1 << 10  // what is read of memory is counted in pieces of this size
	maxPages  = 32 << 10 // pieces in one halt
	rangeSize = 64 << 10 // bytes that a server reads in one call, at most
	maxRanges = 400      // calls in one halt; see look
	maxLooks  = 12       // halts for one sample
	keptFor   = 8        // looks for which a piece is read that was not asked for

	longestLook = 30 * time.Second       // until a server that does not answer is given up
	nudgeEvery  = 100 * time.Millisecond // how often it is asked whether the program runs meanwhile
	// how many such answers in turn mean that it has to be halted again
	nudgeAfter = 3
)

// A remoteHalter halts the program of a Delve server.
//
// The server must let the program go on even if cpprof is killed
// in the midst of a halt, or the network fails. So all calls of
// a halt, with the one that continues the program as the last,
// are sent before the call that halts it, by another connection.
// They can't depend on each other's answers. So the halter reads
// what was asked for in earlier samples. If a piece of memory is
// asked for that it has not, it halts the program again. The
// first sample needs several halts, later ones rarely more than
// one.
type remoteHalter struct {
	address       string
	work, control *wire // the same if the server accepts a single client
	single        bool
	entry         uint64
	pid           int
	command       []string
	buildID       string
	asks          []*ask // to be answered in the next look
	ended         func(sampledata.End)
	over          bool

	resumed *continued // the call that let the program go on, if this client made it
	looks   int        // made so far
	// pieces to be read, by address, and the look after which
	// each was asked for
	wanted  map[uint64]int
	pages   map[uint64][]byte
	alone   map[uint64]bool // pieces that could not be read together with their neighbours
	missed  bool            // something was asked for that was not read
	threads []thread
	ids     []int // of the threads
}

// A continued call is answered when the program stops again.
type continued struct {
	call *rpc.Call
	out  rpc2.CommandOut
}

// resume begins to let the program go on.
func (h *remoteHalter) resume() {
	h.resumed = &continued{}
	h.resumed.call = h.work.begin("Command", api.DebuggerCommand{Name: api.Continue},
		&h.resumed.out)
}

// during makes looks until one has all that f asks for. So f is
// called while the program runs again, and with what it was.
func (h *remoteHalter) during(f func([]thread) error) (took time.Duration, err error) {
	for range maxLooks {
		if err := h.awaitRunning(); err != nil {
			return took, err
		}
		t, err := h.look()
		took += t
		if err != nil {
			return took, err
		}
		h.missed = false
		if err := f(h.threads); !h.missed {
			return took, err
		}
	}
	return took, errors.New("the program changed too fast for the Delve server")
}

// awaitRunning returns an error if the program does not run. It
// asks by the connection that has let the program go on, if that
// was this client: the server reads the question when all
// threads run.
func (h *remoteHalter) awaitRunning() error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		var s rpc2.StateOut
		err := h.work.call("State", rpc2.StateIn{NonBlocking: true}, &s)
		switch {
		case err == nil && s.State != nil && s.State.Running:
			return nil
		case err != nil || s.State == nil || s.State.Exited:
			return h.gone(err)
		case time.Since(began) > 2*time.Second:
			if err := h.stopped(h.resumed); err != nil {
				return err
			}
			return errors.New("the debugger has halted the program, for another client or at a breakpoint")
		}
	}
}

// gone returns the error of a program that has ended, if it has.
func (h *remoteHalter) gone(err error) error {
	if unanswered, ok := errors.AsType[unansweredError](err); ok {
		return h.lost(unanswered.error)
	}
	end := sampler.Exited
	text, exited := "", err == nil
	if err != nil {
		text = err.Error()
		exited = strings.Contains(text, "has exited with status") ||
			strings.Contains(text, "process exited") || strings.Contains(text, "no such process")
	}
	if !exited {
		return fmt.Errorf("the Delve server at %s says: %w", h.address, err)
	}
	if _, status, ok := strings.Cut(text, "with status "); ok {
		if n, err := strconv.ParseInt(status, 10, 32); err == nil {
			end.ExitStatus, end.Detail = int32(n), "exit status "+status
		}
	}
	h.end(end)
	return &sampler.EndedError{End: end}
}

// An answer to a call that reads a range of memory.
type answer struct {
	call *rpc.Call
	out  rpc2.ExaminedMemoryOut
}

// look halts the program once, reads, and lets it go on. It
// returns for how long the program was halted, as far as can be
// seen from here.
//
// The calls of a look are so few that a server has received all
// of them before it halts, even if it doesn't read them yet:
// they fit into what a system receives for a process.
func (h *remoteHalter) look() (time.Duration, error) {
	h.looks++
	w := h.work
	w.pipe.keep = true
	halt := func() {
		h.control.begin("Command", api.DebuggerCommand{Name: api.Halt}, &rpc2.CommandOut{})
	}
	if h.single {
		halt() // if the connection breaks, this server lets the program go on
	}
	earlier := h.resumed
	about := h.beginAsks()
	var list rpc2.ListThreadsOut
	listed := w.begin("ListThreads", rpc2.ListThreadsIn{}, &list)
	registers := make([]rpc2.ListRegistersOut, len(h.ids))
	calls := append(about.calls, listed)
	for i, id := range h.ids {
		calls = append(calls,
			w.begin("ListRegisters", rpc2.ListRegistersIn{ThreadID: id}, &registers[i]))
	}
	ranges, err := h.ranges()
	if err != nil {
		return 0, err
	}
	answers := make([]answer, len(ranges))
	for i, r := range ranges {
		a := &answers[i]
		a.call = w.begin("ExamineMemory", rpc2.ExamineMemoryIn{Address: r.addr, Length: r.size},
			&a.out)
	}
	h.resume()
	began := time.Now()
	if err := w.pipe.flush(); err != nil {
		return 0, h.lost(err)
	}
	if !h.single {
		began = time.Now()
		halt()
	}
	late := time.After(longestLook)
	for _, c := range calls {
		if err := h.awaitLook(c, late); err != nil && c == listed {
			return time.Since(began), h.failed(earlier, err)
		} else if errors.As(err, &unansweredError{}) {
			return time.Since(began), h.lost(err)
		}
	}
	clear(h.pages)
	for i := range answers {
		err := h.awaitLook(answers[i].call, late)
		if errors.As(err, &unansweredError{}) {
			return time.Since(began), h.lost(err)
		}
		h.keep(ranges[i], answers[i].out.Mem, err == nil)
	}
	took := w.pipe.lastCame().Sub(began)
	about.keep(h)
	h.setThreads(list.Threads, registers)
	return max(took, 0), nil
}

// awaitLook waits for an answer of a look. A client that was
// killed just before it halted the program has left its calls in
// the server, and with them one that continues the program
// before all calls of this look are answered. So if nothing
// comes and the program runs, awaitLook halts it again.
func (h *remoteHalter) awaitLook(c *rpc.Call, late <-chan time.Time) error {
	for running := 0; ; {
		select {
		case <-c.Done:
			return answered(c)
		case <-late:
			return unansweredError{fmt.Errorf("no answer within %v", longestLook)}
		case <-time.After(nudgeEvery):
		}
		if h.single || time.Since(h.work.pipe.lastCame()) < nudgeEvery {
			running = 0
			continue
		}
		var s rpc2.StateOut
		if err := h.control.call("State", rpc2.StateIn{NonBlocking: true}, &s); err != nil ||
			s.State == nil || !s.State.Running {
			running = 0
			continue
		}
		if running++; running == nudgeAfter {
			running = 0
			h.control.begin("Command", api.DebuggerCommand{Name: api.Halt}, &rpc2.CommandOut{})
		}
	}
}

// failed returns the error of a look that has read nothing.
func (h *remoteHalter) failed(earlier *continued, err error) error {
	if !errors.As(err, &unansweredError{}) {
		if err := h.stopped(earlier); err != nil {
			return err
		}
	}
	return h.gone(err)
}

// stopped returns the error of a program that has ended, or
// could not go on, after it was continued.
func (h *remoteHalter) stopped(c *continued) error {
	if c == nil {
		return nil
	}
	select {
	case <-c.call.Done:
	default:
		return nil
	}
	if err := answered(c.call); err != nil {
		return h.gone(err)
	}
	if s := c.out.State; s.Exited {
		end := sampledata.End{Cause: sampledata.EndExited, ExitStatus: int32(s.ExitStatus),
			Detail: fmt.Sprintf("exit status %d", s.ExitStatus)}
		h.end(end)
		return &sampler.EndedError{End: end}
	}
	return nil
}

// questions are what is asked once about the program.
type questions struct {
	calls []*rpc.Call
	state rpc2.StateOut
	build rpc2.BuildIDOut
}

// beginAsks begins to ask where variables are, and which program it is.
func (h *remoteHalter) beginAsks() *questions {
	q := &questions{}
	if len(h.asks) == 0 {
		return q
	}
	for _, a := range h.asks {
		in := rpc2.EvalIn{Scope: api.EvalScope{GoroutineID: -1}, Expr: a.name,
			Cfg: &api.LoadConfig{}}
		q.calls = append(q.calls, h.work.begin("Eval", in, &a.out))
	}
	q.calls = append(q.calls, h.work.begin("BuildID", rpc2.BuildIDIn{}, &q.build))
	q.calls = append(q.calls, h.work.begin("State", rpc2.StateIn{}, &q.state))
	return q
}

// keep stores the answers.
func (q *questions) keep(h *remoteHalter) {
	if s := q.state.State; s != nil {
		h.pid, h.command, h.buildID = s.Pid, strings.Fields(s.TargetCommandLine), q.build.BuildID
	}
}

// A piece of the program's memory.
type piece struct {
	addr uint64
	size int
}

// keep stores the pieces of a range. If one is not mapped, the
// range could not be read: its pieces are then read one by one
// in the next look, or are known to be missing.
func (h *remoteHalter) keep(r piece, data []byte, ok bool) {
	for off := 0; off < r.size; off += pageSize {
		at := r.addr + uint64(off)
		switch {
		case ok && off+pageSize <= len(data):
			h.pages[at] = data[off : off+pageSize]
		case r.size == pageSize:
			h.pages[at] = nil
		default:
			h.alone[at] = true
		}
	}
}

// ranges returns what is to be read. It bridges gaps if the
// calls would be too many.
func (h *remoteHalter) ranges() ([]piece, error) {
	for at, asked := range h.wanted {
		if h.looks-asked > keptFor {
			delete(h.wanted, at)
		}
	}
	if len(h.wanted) > maxPages {
		return nil, fmt.Errorf("reading more than %d MB of the program in one halt would take too long: it has too many goroutines for a Delve server", maxPages*pageSize>>20)
	}
	pages := slices.Sorted(maps.Keys(h.wanted))
	for gap := uint64(0); ; gap = 2*gap + pageSize {
		if r := h.join(pages, gap); len(r) <= maxRanges || gap > rangeSize {
			return r, nil
		}
	}
}

// join returns the ranges that have some pieces, and gaps
// between them up to a size.
func (h *remoteHalter) join(pages []uint64, gap uint64) []piece {
	var list []piece
	for _, at := range pages {
		if n := len(list) - 1; n >= 0 && !h.alone[at] && !h.alone[list[n].addr] {
			last := &list[n]
			end := last.addr + uint64(last.size)
			if grown := at + pageSize - last.addr; at-end <= gap && grown <= rangeSize {
				last.size = int(grown)
				continue
			}
		}
		list = append(list, piece{at, pageSize})
	}
	return list
}

// ReadRanges copies what the last look has read. What it has not
// is read by the next one.
func (h *remoteHalter) ReadRanges(rs []copied.Range) (failed int) {
	for i := range rs {
		s := &rs[i]
		n := 0
		for n < len(s.Buf) {
			at := s.Addr + uint64(n)
			page, ok := h.page(at &^ (pageSize - 1))
			off := int(at & (pageSize - 1))
			if !ok {
				h.missed = true
			}
			if page == nil {
				break
			}
			n += copy(s.Buf[n:], page[off:])
		}
		if n < len(s.Buf) {
			h.wantRest(*s, n)
			s.Buf = s.Buf[:n]
			failed++
		}
	}
	return failed
}

// page returns a piece, and notes that it was asked for. It is
// nil and ok if the piece is not mapped.
func (h *remoteHalter) page(at uint64) (data []byte, ok bool) {
	data, ok = h.pages[at]
	h.wanted[at] = h.looks
	return data, ok
}

// wantRest asks for all pieces of a span from an offset on.
func (h *remoteHalter) wantRest(s copied.Range, from int) {
	end := s.Addr + uint64(len(s.Buf))
	for at := (s.Addr + uint64(from)) &^ (pageSize - 1); at < end &&
		len(h.wanted) <= maxPages; at += pageSize {
		h.wanted[at] = h.looks
	}
}

// setThreads stores the registers of threads.
func (h *remoteHalter) setThreads(list []*api.Thread, registers []rpc2.ListRegistersOut) {
	h.threads = h.threads[:0]
	for i, id := range h.ids {
		// Like nativeHalter, it can't find out which threads sleep in
		// system calls.
		if regs := registers[i].Regs; len(regs) > 0 {
			h.threads = append(h.threads, thread{id: id, regs: registersOf(regs), asleep: true})
		}
	}
	h.ids = h.ids[:0]
	for _, t := range list {
		h.ids = append(h.ids, t.ID)
	}
}

// registersOf returns the registers that unwinding needs.
func registersOf(list api.Registers) proc.Registers {
	numbers := map[int]uint64{}
	for _, x := range list {
		if v, err := strconv.ParseUint(x.Value, 0, 64); err == nil {
			numbers[x.DwarfNumber] = v
		}
	}
	if runtime.GOARCH == "arm64" {
		return savedRegisters(numbers[regnum.ARM64_PC], numbers[regnum.ARM64_SP],
			numbers[regnum.ARM64_BP], numbers[regnum.ARM64_LR])
	}
	return savedRegisters(numbers[regnum.AMD64_Rip], numbers[regnum.AMD64_Rsp],
		numbers[regnum.AMD64_Rbp], 0)
}

func (h *remoteHalter) entryPoint() (uint64, error) { return h.entry, nil }
