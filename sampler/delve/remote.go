package delve

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// Connect prepares to sample the program of a headless Delve server (dlv
// --headless). The executable is a copy of the program's, with debug
// information. The program is halted some times, for
// milliseconds each, to find out where its runtime keeps its
// data.
//
// A server that accepts several clients stays, with its program
// running. One that accepts a single client ends when the
// backend is closed; its program runs on.
func Connect(address, executable string) (*sampler.Process, *Backend, error) {
	info, err := sampler.ReadExecutable(executable)
	switch {
	case err != nil:
		return nil, nil, err
	case info.OS != "linux" || info.Arch != runtime.GOARCH:
		return nil, nil, fmt.Errorf("%s was built for %s/%s: this cpprof reads programs of Delve servers only if they were built for linux/%s", info.Path, info.OS, info.Arch, runtime.GOARCH)
	case !info.DWARF:
		return nil, nil, fmt.Errorf("%s has no symbols: give the program as it was before it was stripped (-ldflags=-s and -w)", info.Path)
	}
	b, err := load(executable, info)
	if err != nil {
		return nil, nil, err
	}
	h, err := connect(address)
	if err != nil {
		return nil, nil, err
	}
	p, a, err := h.attach(b)
	if err != nil {
		return nil, nil, errors.Join(err, h.close())
	}
	return p, a, nil
}

// connect connects to a server, and checks that its program can
// be halted without doing harm.
func connect(address string) (*remoteHalter, error) {
	work, err := dial(address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w: is a server there (dlv attach PID --headless --accept-multiclient --continue --listen %s)? One without --accept-multiclient serves only one client", address, bare(err), address)
	}
	h := &remoteHalter{address: address, work: work, control: work, wanted: map[uint64]int{},
		alone: map[uint64]bool{}, pages: map[uint64][]byte{}}
	if err := h.shakeHands(); err != nil {
		work.close()
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	if !h.single {
		if h.control, err = dial(address); err != nil {
			work.close()
			return nil, fmt.Errorf("connect to %s once more: %w", address, bare(err))
		}
	}
	return h, nil
}

// bare returns the cause of a network error.
func bare(err error) error {
	if netErr, ok := errors.AsType[*net.OpError](err); ok {
		return netErr.Err
	}
	return err
}

// shakeHands finds out what kind of server this is.
func (h *remoteHalter) shakeHands() error {
	err := h.work.call("SetApiVersion", api.SetAPIVersionIn{APIVersion: 2}, &api.SetAPIVersionOut{})
	var unanswered unansweredError
	switch {
	case isSyntax(err):
		return errors.New("this is not a headless Delve server (dlv --headless)")
	case errors.As(err, &unanswered):
		return fmt.Errorf("%w: is it a headless Delve server (dlv --headless)?", unanswered.error)
	case err != nil:
		return fmt.Errorf("the server does not speak version 2 of Delve's protocol: %w", err)
	}
	var version api.GetVersionOut
	var multi rpc2.IsMulticlientOut
	var attached rpc2.AttachedToExistingProcessOut
	var state rpc2.StateOut
	for _, c := range []struct {
		method  string
		in, out any
	}{
		{"GetVersion", api.GetVersionIn{}, &version},
		{"IsMulticlient", rpc2.IsMulticlientIn{}, &multi},
		{"AttachedToExistingProcess", rpc2.AttachedToExistingProcessIn{}, &attached},
		{"State", rpc2.StateIn{NonBlocking: true}, &state},
	} {
		if err := h.work.call(c.method, c.in, c.out); err != nil {
			return fmt.Errorf("the server (Delve %s) says: %w", oneLine(version.DelveVersion), err)
		}
	}
	h.single = !multi.IsMulticlient
	switch {
	case version.Backend == "core" || version.Backend == "rr" || state.State == nil:
		return errors.New("the server has no running program: it shows a core dump or a recording")
	case state.State.Exited:
		return errors.New("the server's program has ended")
	case h.single && !attached.Answer:
		return errors.New("this server would kill its program if the connection broke, since it launched it and accepts a single client: start it with --accept-multiclient --continue")
	case h.single && !state.State.Running:
		h.resume() // it has waited for its client
	}
	if err := h.awaitRunning(); err != nil {
		return fmt.Errorf("%w: continue it first, or start the server with --continue", err)
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// attach makes a backend for the server's program.
func (h *remoteHalter) attach(b *Binary) (*sampler.Process, *Backend, error) {
	local := &proc.EvalScope{Mem: noMemory{}, BinInfo: b.bi,
		Regs: op.DwarfRegisters{StaticBase: b.bi.Images[0].StaticBase}}
	for _, name := range []string{"runtime.gomaxprocs", "runtime.allglen", "runtime.sched"} {
		x, err := local.EvalExpression(name, proc.LoadConfig{})
		if err != nil {
			return nil, nil, fmt.Errorf("debug information of %s: %w", name, err)
		}
		h.asks = append(h.asks, &ask{name: name, local: x.Addr})
	}
	if _, err := h.look(); err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", h.address, err)
	}
	if err := h.isProgram(b); err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", h.address, err)
	}
	h.entry = b.entry + h.asks[0].moved()
	h.asks = nil
	p, ended := sampler.Elsewhere(h.pid, filepath.Base(b.info.Path), h.command)
	h.ended = ended
	a := newBackend(p, h)
	for range maxLooks {
		h.missed = false
		err := a.prepare(b)
		switch {
		case h.missed:
		case err != nil:
			return nil, nil, fmt.Errorf("connect to %s: %w", h.address, err)
		default:
			return p, a, nil
		}
		if err := h.awaitRunning(); err != nil {
			return nil, nil, err
		}
		if _, err := h.look(); err != nil {
			return nil, nil, fmt.Errorf("connect to %s: %w", h.address, err)
		}
	}
	return nil, nil, fmt.Errorf("connect to %s: the memory of the program can't be read", h.address)
}

// isProgram returns an error if the server's program is not the binary.
func (h *remoteHalter) isProgram(b *Binary) error {
	other := fmt.Errorf("%s is not the program that the server debugs (%s): give a copy of its executable with --program", b.info.Path, oneLine(strings.Join(h.command, " ")))
	if own := b.bi.Images[0].BuildID; own != "" && h.buildID != "" && own != h.buildID {
		return other
	}
	for _, x := range h.asks {
		if x.out.Variable == nil || x.moved() != h.asks[0].moved() {
			return other
		}
	}
	return nil
}

// An ask is a question about a variable of the runtime: where it is.
type ask struct {
	name  string
	local uint64 // its address as linked
	out   rpc2.EvalOut
}

// moved returns by how much the program was moved when it was loaded.
func (a *ask) moved() uint64 { return a.out.Variable.Addr - a.local }

// noMemory is the memory of a program that does not run.
type noMemory struct{}

func (noMemory) ReadMemory([]byte, uint64) (int, error)  { return 0, errNotHere }
func (noMemory) WriteMemory(uint64, []byte) (int, error) { return 0, errNotHere }

// lost returns the end of a recording whose server is gone.
func (h *remoteHalter) lost(err error) error {
	end := sampledata.End{Cause: sampledata.EndFailed,
		Detail: fmt.Sprintf("the Delve server at %s is gone (%v)", h.address, bare(err))}
	h.end(end)
	return &sampler.EndedError{End: end}
}

// end notes that the program, or the connection to it, has ended.
func (h *remoteHalter) end(e sampledata.End) {
	h.over = true
	if h.ended != nil {
		h.ended(e)
	}
}

// close leaves the server with its program running.
func (h *remoteHalter) close() error {
	if !h.single {
		return errors.Join(h.work.close(), h.control.close())
	}
	var err error
	if !h.over {
		h.work.pipe.keep = true
		h.work.begin("Command", api.DebuggerCommand{Name: api.Halt}, &rpc2.CommandOut{})
		detached := h.work.begin("Detach", rpc2.DetachIn{Kill: false}, &rpc2.DetachOut{})
		if err = h.work.pipe.flush(); err == nil {
			err = await(detached, time.After(patience))
		}
	}
	h.work.close() // the server may have ended by now
	if err != nil {
		return fmt.Errorf("detaching from the program of the Delve server at %s: %w",
			h.address, err)
	}
	return nil
}
