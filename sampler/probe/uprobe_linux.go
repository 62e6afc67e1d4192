//go:build linux && (amd64 || arm64)

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
)

// uprobes are instruments that the kernel puts into the code of a process.
type uprobes struct {
	program *Program
	kind    uint32 // the number of the kernel's uprobes among its performance monitors
	kernel  *kernelProgram
	counts  *ebpf.Memory
	ring    *ringbuf.Reader
	record  ringbuf.Record

	mu     sync.Mutex
	number map[uint64]uint32 // of a site
	fds    map[uint64]int    // of those that are in
}

func openUprobes(p *Program) (*uprobes, error) {
	text, err := os.ReadFile("/sys/bus/event_source/devices/uprobe/type")
	if err != nil {
		return nil, errors.New("the kernel has no uprobes (CONFIG_UPROBE_EVENTS), or /sys is not mounted")
	}
	kind, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the number of uprobes: %w", err)
	}
	_ = rlimit.RemoveMemlock() // before Linux 5.11, maps count as locked memory; if it is too little, NewMap fails
	arch := processors[runtime.GOARCH]
	u := &uprobes{program: p, kind: uint32(kind), number: map[uint64]uint32{}, fds: map[uint64]int{}}
	goid := p.bin.Layout.G.Goid
	if u.kernel, err = load(&arch, int32(goid)); err != nil {
		return nil, refusedUprobes(err)
	}
	if u.counts, err = u.kernel.counts.Memory(); err == nil {
		u.ring, err = ringbuf.NewReader(u.kernel.ring)
	}
	if err != nil {
		u.kernel.close()
		return nil, refusedUprobes(err)
	}
	u.ring.SetDeadline(time.Unix(1, 0)) // never wait
	return u, nil
}

// refusedUprobes adds to an error what a person can do about it.
func refusedUprobes(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return errors.New("uprobes are not permitted: run cpprof as root, or grant it the capabilities " +
			"(sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $(which cpprof)); a container needs --cap-add BPF,PERFMON,SYS_PTRACE")
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("this kernel can't run programs at uprobes (it needs Linux 5.8, with CONFIG_BPF_EVENTS): %w", err)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("too many probes: raise the limit of open files (ulimit -n): %w", err)
	}
	return fmt.Errorf("uprobes: %w", err)
}

func (u *uprobes) instrument() sampledata.Instrument { return sampledata.Uprobe }

func (u *uprobes) most() int { return mostSites - 1 }

// attach puts an instrument at an address of the process. A program of an event runs for all threads of the process that the
// event is for, those that start later included, so that one event does.
func (u *uprobes) attach(pc uint64, record bool) error {
	offset, ok := u.program.offset(pc)
	if !ok {
		return fmt.Errorf("address %#x is not in the executable", pc)
	}
	number, err := u.site(pc)
	if err != nil {
		return err
	}
	site := uint64(number)
	if record {
		site |= recordedSite
	}
	if err := u.kernel.sites.Put(pc, site); err != nil {
		return refusedUprobes(err)
	}
	fd, err := u.open(offset) // takes long on a busy machine; others read hits meanwhile
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fds[pc] = fd
	return nil
}

// site returns the number of an address.
func (u *uprobes) site(pc uint64) (uint32, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	number, known := u.number[pc]
	if !known {
		if len(u.number) >= u.most() {
			return 0, fmt.Errorf("more than %d places", u.most())
		}
		number = uint32(len(u.number) + 1)
		u.number[pc] = number
	}
	return number, nil
}

func (u *uprobes) open(offset uint64) (int, error) {
	path, err := unix.BytePtrFromString(fmt.Sprintf("/proc/%d/exe", u.program.PID))
	if err != nil {
		return -1, err
	}
	attr := unix.PerfEventAttr{
		Type: u.kind, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Ext1: uint64(uintptr(unsafe.Pointer(path))), Ext2: offset, // uprobe_path, probe_offset
	}
	fd, err := unix.PerfEventOpen(&attr, u.program.PID, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	runtime.KeepAlive(path)
	if err != nil {
		return -1, refusedUprobes(err)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, u.kernel.program.FD()); err != nil {
		unix.Close(fd)
		return -1, refusedUprobes(err)
	}
	return fd, nil
}

// detach takes an instrument out. The kernel first takes it out of the code, and then waits until no processor uses it: up to
// seconds on a busy machine. Only then it begins with the next one, whoever asks for it.
func (u *uprobes) detach(pc uint64) {
	u.mu.Lock()
	fd, ok := u.fds[pc]
	delete(u.fds, pc)
	u.mu.Unlock()
	if ok {
		unix.Close(fd)
	}
}

func (u *uprobes) hits(pc uint64) uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.count(u.number[pc])
}

func (u *uprobes) count(number uint32) uint64 {
	var b [8]byte
	if _, err := u.counts.ReadAt(b[:], 8*int64(number)); err != nil {
		return 0
	}
	return binary.NativeEndian.Uint64(b[:])
}

func (u *uprobes) lost() uint64 { return u.count(0) }

func (u *uprobes) drain(add func(*hit)) {
	arch := processors[runtime.GOARCH]
	words := make([]uint64, arch.words())
	for u.ring.ReadInto(&u.record) == nil {
		raw := u.record.RawSample
		if len(raw) < 8*len(words) {
			continue
		}
		for i := range words {
			words[i] = binary.NativeEndian.Uint64(raw[8*i:])
		}
		h := hit{
			time: words[wordTime], pc: words[wordPC], goroutine: words[wordGoroutine], depth: words[wordStackEnd] - words[wordSP],
			caller: words[wordCaller], lost: words[wordLost], registers: words[wordRegisters:],
		}
		if h.goroutine == 0 { // the runtime's, on the stack of a thread
			h.goroutine = words[wordG]
		}
		add(&h)
	}
}

func (u *uprobes) close() error {
	err := u.ring.Close()
	u.kernel.close()
	return err
}
