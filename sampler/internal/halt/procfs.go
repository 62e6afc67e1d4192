//go:build linux && (amd64 || arm64)

package halt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A File is a file under /proc that is kept open and read again and again, without a word to Go's scheduler: these
// reads don't block, and what the scheduler does about a system call costs more than they do.
type File struct{ fd int }

// OpenFile opens one.
func OpenFile(path string) (File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return File{fd}, os.NewSyscallError("open "+path, err)
}

// ReadAt fills b from an offset, as far as there is something.
func (f File) ReadAt(b []byte, offset int64) (int, error) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), uintptr(offset), 0, 0)
		switch e {
		case 0:
			return int(n), nil
		case unix.EINTR:
			continue
		}
		return 0, e
	}
}

// Close closes the file.
func (f File) Close() error { return unix.Close(f.fd) }

// Tags of the auxiliary vector.
const (
	auxPhdr  = 3 // AT_PHDR
	AuxEntry = 9 // AT_ENTRY: address of the program's entry point
)

// Auxv gives the auxiliary vector with which the kernel started the program.
func (p *Process) Auxv() (map[uint64]uint64, error) {
	b, err := os.ReadFile(p.Path("auxv"))
	if err != nil {
		return nil, err
	}
	aux := map[uint64]uint64{}
	for ; len(b) >= 16; b = b[16:] {
		tag := binary.LittleEndian.Uint64(b)
		if tag == 0 {
			break
		}
		aux[tag] = binary.LittleEndian.Uint64(b[8:])
	}
	return aux, nil
}

// Threads lists the numbers of the process's threads.
func (p *Process) Threads() ([]int, error) {
	f, err := os.Open(p.Path("task"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	tids := make([]int, 0, len(names))
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, err
}

// A stat is what is needed of /proc/PID/stat.
type stat struct {
	state byte
	start uint64
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The command stands in parentheses and may hold anything, parentheses and blanks included.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat has %d fields: is /proc that of Linux?", pid, len(f)+2)
	}
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	return stat{state: f[0][0], start: start}, err
}

// statusField gives the number of one line of /proc/PID/status, or of a thread's; 0 where it can't be read.
func statusField(path, name string) int {
	b, _ := os.ReadFile(path)
	_, after, ok := bytes.Cut(b, []byte("\n"+name+":\t"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, _ := strconv.Atoi(string(line))
	return n
}

// tracerOf gives the thread that traces a thread, 0 for none.
func tracerOf(pid, tid int) int {
	return statusField(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid), "TracerPid")
}

// processOf returns the number and the name of the process that a thread belongs to: 4711 (gdb).
func processOf(tid int) string {
	pid := statusField(fmt.Sprintf("/proc/%d/status", tid), "Tgid")
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return strconv.Itoa(pid)
	}
	return fmt.Sprintf("%d (%s)", pid, bytes.TrimSpace(name))
}

// isChild tells whether a process is a child of the sampler.
func isChild(pid int) bool {
	return statusField(fmt.Sprintf("/proc/%d/status", pid), "PPid") == os.Getpid()
}
