//go:build linux && amd64

package gobinary_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
)

// A process is a running target.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.Writer
	out   *bufio.Reader
	bin   *gobinary.Binary
	cache map[uint64][]byte // pages read in one halt
}

// start runs a target and opens its binary.
func start(t testing.TB, path string, args ...string) *process {
	t.Helper()
	p := launch(t, path, args...)
	exe := fixture.Must(os.Open(fmt.Sprintf("/proc/%d/exe", p.cmd.Process.Pid)))(t)
	defer exe.Close()
	p.bin = fixture.Must(gobinary.Open(exe, p.atEntry()))(t)
	return p
}

// launch starts a target and waits until it is ready.
func launch(t testing.TB, path string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(path, args...)}
	p.in, _ = p.cmd.StdinPipe()
	out, _ := p.cmd.StdoutPipe()
	p.out = bufio.NewReader(out)
	fixture.Check(t, p.cmd.Start())
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	if line, err := p.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("target said %q, %v", line, err)
	}
	return p
}

// atEntry returns AT_ENTRY of the auxiliary vector.
func (p *process) atEntry() uint64 {
	const atEntry = 9
	aux := fixture.Must(os.ReadFile(fmt.Sprintf("/proc/%d/auxv", p.cmd.Process.Pid)))(p.t)
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.LittleEndian.Uint64(aux) == atEntry {
			return binary.LittleEndian.Uint64(aux[8:])
		}
	}
	p.t.Fatal("no AT_ENTRY")
	return 0
}

// read copies memory of the target.
func (p *process) read(addr uint64, n int) []byte {
	b := make([]byte, n)
	local := []unix.Iovec{{Base: &b[0], Len: uint64(n)}}
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: n}}
	if got, err := unix.ProcessVMReadv(p.cmd.Process.Pid, local, remote, 0); err != nil || got != n {
		return nil
	}
	return b
}

func (p *process) word(addr uint64) uint64 {
	b := p.read(addr, 8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// Segment copies a page on demand and implements unwind.Memory.
func (p *process) Segment(addr uint64) (uint64, []byte) {
	const page = 4096
	base := addr &^ (page - 1)
	b, ok := p.cache[base]
	if !ok {
		b = p.read(base, page)
		p.cache[base] = b
	}
	return base, b
}

// gs returns the addresses of all g structs.
func (p *process) gs() []uint64 {
	all := p.read(p.bin.Globals.AllGs, 24)
	n := binary.LittleEndian.Uint64(all[8:])
	list := p.read(binary.LittleEndian.Uint64(all), int(n)*8)
	gs := make([]uint64, n)
	for i := range gs {
		gs[i] = binary.LittleEndian.Uint64(list[i*8:])
	}
	return gs
}

// A goroutine has the fields of a g that the tests need.
type goroutine struct {
	id     uint64
	status uint32
	m      uint64
	ctx    unwind.Context
}

func (p *process) goroutine(g uint64) goroutine {
	l := &p.bin.Layout.G
	b := p.read(g, int(l.Size))
	word := func(off int32) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	return goroutine{
		id:     word(int32(l.Goid)),
		status: binary.LittleEndian.Uint32(b[l.AtomicStatus:]) &^ 0x1000,
		m:      word(int32(l.M)),
		ctx: unwind.Context{
			StackLo: word(int32(l.StackLo)), StackHi: word(int32(l.StackHi)),
			SchedPC: word(int32(l.SchedPC)), SchedSP: word(int32(l.SchedSP)), SchedLR: word(int32(l.SchedLR)),
			SyscallPC: word(int32(l.SyscallPC)), SyscallSP: word(int32(l.SyscallSP)),
		},
	}
}

// halted calls f with the registers of all threads, while all
// threads of the target are stopped.
func (p *process) halted(f func(regs map[int]unix.PtraceRegs)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid := p.cmd.Process.Pid
	regs := map[int]unix.PtraceRegs{}
	defer func() {
		for tid := range regs {
			unix.PtraceDetach(tid)
		}
	}()
	for again := true; again; {
		again = false
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			if _, have := regs[tid]; have {
				continue
			}
			again = true
			if unix.PtraceSeize(tid) != nil || unix.PtraceInterrupt(tid) != nil {
				continue
			}
			var st unix.WaitStatus
			unix.Wait4(tid, &st, unix.WALL, nil)
			var r unix.PtraceRegs
			if unix.PtraceGetRegs(tid, &r) == nil {
				regs[tid] = r
			}
			for st.Stopped() && st.TrapCause() != unix.PTRACE_EVENT_STOP {
				unix.PtraceCont(tid, int(st.StopSignal()))
				unix.PtraceInterrupt(tid)
				unix.Wait4(tid, &st, unix.WALL, nil)
				if unix.PtraceGetRegs(tid, &r) == nil {
					regs[tid] = r
				}
			}
		}
	}
	p.cache = map[uint64][]byte{}
	f(regs)
}

// build compiles a target of testdata, once per run of the tests
// and set of flags.
func build(t testing.TB, target string, flags ...string) string {
	t.Helper()
	return fixture.BuildPackage(t, "./sampler/target/gobinary/testdata/"+target, flags...)
}

func TestMain(m *testing.M) { fixture.Main(m) }
