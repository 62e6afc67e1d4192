//go:build linux && (amd64 || arm64)

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
)

// uprobes are instruments that the kernel puts into the code of a process.
type uprobes struct {
	program  *Program
	image    *image // the code, in the memory of the process
	method   method
	folder   *folder // nil if there is none
	kernel   *kernelProgram
	counts   *ebpf.Memory
	ring     *ringbuf.Reader
	record   ringbuf.Record
	measured costs

	attaching sync.RWMutex // held by takeOut for writing: nothing comes in any more
	mu        sync.Mutex
	number    map[uint64]uint32   // of a site
	in        map[uint64]inserted // by the first place of a group
	out       bool
}

// A method is a way to have instruments put in.
type method struct {
	linked bool // by links (uprobe_multi)
	folder bool // which are in a folder
}

// methods lists the ways, the best first.
var methods = []method{{linked: true, folder: true}, {linked: true}, {}}

// openUprobes returns instruments of the best method that works.
func openUprobes(p *Program) (u *uprobes, err error) {
	if _, err := eventKind(); err != nil {
		return nil, err
	}
	// before Linux 5.11, maps count as locked memory; if it is
	// too little, NewMap fails
	_ = rlimit.RemoveMemlock()
	for _, m := range methods {
		if u, err = openMethod(p, m); err == nil {
			return u, nil
		}
	}
	return nil, refusedUprobes(err)
}

// openMethod tries a method on this process. The last method may
// be untried: without a cost.
func openMethod(p *Program, m method) (*uprobes, error) {
	u := &uprobes{program: p, method: m, number: map[uint64]uint32{}, in: map[uint64]inserted{}}
	err := u.open()
	if err == nil {
		u.measured, err = u.calibrate()
	}
	if err != nil && (m != (method{}) || u.ring == nil) {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *uprobes) open() (err error) {
	if u.image, err = openImage(u.program); err != nil {
		return err
	}
	if u.method.folder {
		if u.folder, err = newFolder(); err != nil {
			return err
		}
	}
	arch := processors[runtime.GOARCH]
	goid := u.program.bin.Layout.G.Goid
	if u.kernel, err = load(&arch, int32(goid), u.method.linked); err != nil {
		return err
	}
	if u.counts, err = u.kernel.counts.Memory(); err != nil {
		return err
	}
	if u.ring, err = ringbuf.NewReader(u.kernel.ring); err != nil {
		return err
	}
	u.ring.SetDeadline(time.Unix(1, 0)) // never wait
	return nil
}

// inserter returns what puts instruments in.
func (u *uprobes) inserter() inserter {
	switch {
	case u.folder != nil:
		return u.folder.insert
	case u.method.linked:
		return insertLink
	}
	return insertEvents
}

// refusedUprobes adds to an error what a person can do about it.
func refusedUprobes(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return errors.New("uprobes are not permitted: run cpprof as root, or grant it the capabilities " +
			"(sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $(which cpprof)); a container needs --cap-add BPF,PERFMON,SYS_PTRACE")
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, unix.EINVAL),
		errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("this kernel can't run programs at uprobes (it needs Linux 5.8, with CONFIG_BPF_EVENTS): %w", err)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("too many probes: raise the limit of open files (ulimit -n): %w", err)
	}
	return fmt.Errorf("uprobes: %w", err)
}

func (u *uprobes) instrument() sampledata.Instrument { return sampledata.Uprobe }

// attach puts a group of instruments at addresses of the process.
func (u *uprobes) attach(places []uint64) error {
	u.attaching.RLock()
	defer u.attaching.RUnlock()
	if u.out {
		return errTakenOut
	}
	var offsets []uint64
	for _, pc := range places {
		offset, ok := u.program.offset(pc)
		if !ok {
			return fmt.Errorf("address %#x is not in the executable", pc)
		}
		offsets = append(offsets, offset)
		number, err := u.site(pc)
		if err != nil {
			return err
		}
		if err := u.kernel.sites.Put(pc, uint64(number)); err != nil {
			return refusedUprobes(err)
		}
	}
	group, err := u.inserter()(u.program.PID, u.kernel.program, offsets)
	if err != nil {
		return refusedUprobes(err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.in[places[0]] = group
	return nil
}

var errTakenOut = errors.New("the probes are being taken out")

// site returns the number of an address.
func (u *uprobes) site(pc uint64) (uint32, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	number, known := u.number[pc]
	if !known {
		if len(u.number) >= maxSites-1 {
			return 0, fmt.Errorf("more than %d places", maxSites-1)
		}
		number = uint32(len(u.number) + 1)
		u.number[pc] = number
	}
	return number, nil
}

// detach takes a group out. In a folder, the kernel does so
// soon; otherwise it is out at the end.
func (u *uprobes) detach(places []uint64) {
	u.mu.Lock()
	group, ok := u.in[places[0]]
	delete(u.in, places[0])
	u.mu.Unlock()
	if ok {
		group.takeOut()
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

func (u *uprobes) drain(add func(*hit)) (until uint64) {
	arch := processors[runtime.GOARCH]
	words := make([]uint64, arch.words())
	for range ringBytes / (8 * len(words)) { // all that it can have
		if u.ring.ReadInto(&u.record) != nil {
			return monotonic()
		}
		raw := u.record.RawSample
		if len(raw) < 8*len(words) {
			continue
		}
		for i := range words {
			words[i] = binary.NativeEndian.Uint64(raw[8*i:])
		}
		h := hit{
			time: words[wordTime], pc: words[wordPC], goroutine: words[wordGoroutine],
			depth:  words[wordStackEnd] - words[wordSP],
			caller: words[wordCaller], lost: words[wordLost], registers: words[wordRegisters:],
		}
		if h.goroutine == 0 { // the runtime's, on the stack of a thread
			h.goroutine = words[wordG]
		}
		add(&h)
		until = h.time
	}
	return until
}

func (u *uprobes) close() error {
	var err error
	if u.ring != nil {
		err = u.ring.Close()
	}
	if u.kernel != nil {
		u.kernel.close()
	}
	if u.folder != nil && !u.out {
		u.folder.close()
	}
	if u.image != nil {
		u.image.close()
	}
	return err
}
