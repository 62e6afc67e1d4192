//go:build linux && (amd64 || arm64)

package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// Others are the instruments that all tools have in a process,
// by offsets in files.
type others struct {
	offsets []uint64
	unsure  bool // the kernel has not told of all
}

// instruments asks the kernel which instruments there are. The
// kernel answers root only, and not before Linux 6.8 for links.
func instruments(pid int) *others {
	o := &others{}
	o.addLinks(pid)
	events, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, path := range events {
		if to, err := os.Readlink(path); err == nil && to == "anon_inode:[perf_event]" {
			o.addEvent(path)
		}
	}
	return o
}

func (o *others) addLinks(pid int) {
	var it link.Iterator
	defer it.Close()
	for it.Next() {
		info, err := it.Link.Info()
		if err != nil || info.Type != link.UprobeMultiType {
			continue
		}
		m := info.UprobeMulti()
		if of, known := m.Pid(); known && int(of) != pid {
			continue
		}
		list, known := m.Offsets()
		o.unsure = o.unsure || !known
		for _, one := range list {
			o.offsets = append(o.offsets, one.Offset)
		}
	}
	o.unsure = o.unsure || it.Err() != nil
}

// addEvent adds the instrument of an event that a process has opened.
func (o *others) addEvent(path string) {
	const query, uprobe = 20, 4 // BPF_TASK_FD_QUERY, BPF_FD_TYPE_UPROBE
	parts := strings.Split(path, "/")
	pid, _ := strconv.ParseUint(parts[2], 10, 32)
	fd, _ := strconv.ParseUint(parts[4], 10, 32)
	q := struct {
		pid, fd, flags, length uint32
		buffer                 uint64
		program, kind          uint32
		offset, address        uint64
	}{pid: uint32(pid), fd: uint32(fd)}
	_, _, e := unix.Syscall(unix.SYS_BPF, query, uintptr(unsafe.Pointer(&q)), unsafe.Sizeof(q))
	if e == 0 && q.kind == uprobe {
		o.offsets = append(o.offsets, q.offset)
	}
}
