//go:build linux && (amd64 || arm64)

package probe

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/target/perfevent"
)

// An inserted is a group of instruments that came in together.
// Its method takes the group out.
//
// The kernel waits for all processors then: 25 to 120 ms, be it
// for one instrument or a link of hundreds. A signal that kills
// the waiting thread makes the removal fail: breakpoints remain.
type inserted interface{ takeOut() }

// An inserter puts instruments at offsets of the executable of a process.
type inserter func(pid int, program *ebpf.Program, offsets []uint64) (inserted, error)

// A folder holds links. Nobody else sees the folder, and the
// folder ends with this process. The end of a link in the folder
// is the work of a thread of the kernel, which no signal kills.
type folder struct{ fd int }

func newFolder() (*folder, error) {
	fs, err := unix.Fsopen("bpf", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, err
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	return &folder{fd}, err
}

// close lets the kernel take everything out, and does not wait.
func (f *folder) close() { unix.Close(f.fd) }

// insert puts a group in as links that only the folder holds.
// There is one for each instrument: a signal that kills this
// process between two instruments of one link would leave the
// first.
func (f *folder) insert(pid int, program *ebpf.Program, offsets []uint64) (inserted, error) {
	group := kept{folder: f}
	for _, offset := range offsets {
		if err := f.insertOne(pid, program, offset); err != nil {
			group.takeOut()
			return nil, err
		}
		group.offsets = append(group.offsets, offset)
	}
	return group, nil
}

func (f *folder) insertOne(pid int, program *ebpf.Program, offset uint64) error {
	l, err := newLink(pid, program, []uint64{offset})
	if err != nil {
		return err
	}
	return errors.Join(l.Pin(fmt.Sprintf("/proc/self/fd/%d/%x", f.fd, offset)), l.Close())
}

// A kept is a group of links in a folder.
type kept struct {
	folder  *folder
	offsets []uint64
}

func (k kept) takeOut() {
	for _, offset := range k.offsets {
		_ = unix.Unlinkat(k.folder.fd, strconv.FormatUint(offset, 16), 0)
	}
}

// A held is a link that this process has opened.
type held struct{ link.Link }

func (h held) takeOut() { h.Close() }

// insertLink puts a group in as one link (Linux 6.6).
func insertLink(pid int, program *ebpf.Program, offsets []uint64) (inserted, error) {
	l, err := newLink(pid, program, offsets)
	if err != nil {
		return nil, err
	}
	return held{l}, nil
}

func newLink(pid int, program *ebpf.Program, offsets []uint64) (link.Link, error) {
	x, err := link.OpenExecutable(executable(pid))
	if err != nil {
		return nil, err
	}
	return x.UprobeMulti(nil, program,
		&link.UprobeMultiOptions{Addresses: offsets, PID: uint32(pid)})
}

func executable(pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// events are the kernel's performance events of a group: one of
// each instrument.
type events []int

func (e events) takeOut() { perfevent.CloseAll(e) }

// insertEvents puts a group in as performance events.
func insertEvents(pid int, program *ebpf.Program, offsets []uint64) (inserted, error) {
	kind, err := eventKind()
	if err != nil {
		return nil, err
	}
	var list events
	for _, offset := range offsets {
		fd, err := openEvent(kind, pid, program, offset)
		if err != nil {
			list.takeOut()
			return nil, err
		}
		list = append(list, fd)
	}
	return list, nil
}

// eventKind returns the number of uprobes among the kernel's performance
// monitors.
func eventKind() (uint32, error) {
	text, err := os.ReadFile("/sys/bus/event_source/devices/uprobe/type")
	if err != nil {
		return 0, errors.New("the kernel has no uprobes (CONFIG_UPROBE_EVENTS), " +
			"or /sys is not mounted")
	}
	kind, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("reading the number of uprobes: %w", err)
	}
	return uint32(kind), nil
}

// openEvent opens one event. Its program runs for all threads,
// later ones included.
func openEvent(kind uint32, pid int, program *ebpf.Program, offset uint64) (int, error) {
	path, err := unix.BytePtrFromString(executable(pid))
	if err != nil {
		return -1, err
	}
	attr := unix.PerfEventAttr{
		Type: kind, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Ext1: uint64(uintptr(unsafe.Pointer(path))), Ext2: offset, // uprobe_path, probe_offset
	}
	fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	runtime.KeepAlive(path)
	if err != nil {
		return -1, err
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, program.FD()); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
