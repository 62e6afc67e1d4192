//go:build linux && (amd64 || arm64)

package halt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A File is a file under /proc that stays open and is read many
// times. It is opened and read without informing Go's scheduler:
// that doesn't block, what the scheduler does around a system
// call costs more than the read, and in a halt it could take the
// processor away.
type File struct{ fd int }

// OpenFile opens a file for reading.
func OpenFile(path string) (File, error) {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return File{-1}, err
	}
	here := unix.AT_FDCWD
	fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(here), uintptr(unsafe.Pointer(name)),
		unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if e != 0 {
		return File{-1}, os.NewSyscallError("open "+path, e)
	}
	return File{int(fd)}, nil
}

// ReadAt reads up to len(b) bytes at an offset, and returns how
// many it read.
func (f File) ReadAt(b []byte, offset int64) (int, error) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f.fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(b))),
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

// names returns what a folder contains, without "." and "..".
func (f File) names() ([]string, error) {
	var names []string
	b := make([]byte, 16<<10)
	for {
		n, _, e := unix.RawSyscall(unix.SYS_GETDENTS64, uintptr(f.fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch {
		case e == unix.EINTR:
			continue
		case e != 0:
			return names, os.NewSyscallError("getdents64", e)
		case n == 0:
			return names, nil
		}
		_, _, names = unix.ParseDirent(b[:n], -1, names)
	}
}

// Close closes the file.
func (f File) Close() error {
	_, _, e := unix.RawSyscall(unix.SYS_CLOSE, uintptr(f.fd), 0, 0)
	return errorOf(e)
}

// room is for how many open files there is room before the first
// halt: more than all that are kept open.
const room = 4096

// makeRoom lets the kernel enlarge the table of this process's
// open files. If a file that is opened in a halt did not fit
// into it, the kernel would enlarge it there, and wait until
// every CPU has taken notice: 10 ms and more, with the program's
// threads halted.
func (f File) makeRoom() {
	for n := room; n > 64; n /= 2 { // less if the limit on open files is lower
		fd, err := unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, n-1)
		if err == nil {
			unix.Close(fd)
			return
		}
	}
}

// Tags of the auxiliary vector.
const (
	auxPhdr  = 3 // AT_PHDR
	AuxEntry = 9 // AT_ENTRY: address of the program's entry point
)

// Auxv returns the auxiliary vector that the kernel passed to the program.
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

// Executable opens the file that the process runs. It also
// returns the address at which the program was entered.
func (p *Process) Executable() (*os.File, uint64, error) {
	aux, err := p.Auxv()
	if err != nil {
		return nil, 0, fmt.Errorf("find where the program was loaded: %w", err)
	}
	f, err := os.Open(p.Path("exe"))
	return f, aux[AuxEntry], err
}

// Threads returns the ids of the process's threads.
func (p *Process) Threads() ([]int, error) { return ThreadsOf(p.pid) }

// ThreadsOf returns the ids of a process's threads.
func ThreadsOf(pid int) ([]int, error) { return numbersIn(processFile(pid, "task")) }

// Processes returns the ids of this system's processes.
func Processes() ([]int, error) { return numbersIn("/proc") }

// numbersIn returns the names in a folder that are numbers.
func numbersIn(folder string) ([]int, error) {
	f, err := OpenFile(folder) // os.Open may sleep in a test, where its mutex is contended
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.names()
	ids := make([]int, 0, len(names))
	for _, n := range names {
		if id, err := strconv.Atoi(n); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// A Stat has the fields of /proc/PID/stat that cpprof needs.
type Stat struct {
	PID, Parent, Group int
	State              byte
	Flags              uint64
	Start              uint64 // in ticks since the machine started
	Stack              uint64 // where the first stack begins; 0 without permission
}

// Compare orders processes by start time. Many processes may
// start within one tick, so the pid decides then.
func (s Stat) Compare(t Stat) int {
	return cmp.Or(cmp.Compare(s.Start, t.Start), cmp.Compare(s.PID, t.PID))
}

// ReadStat returns the fields of a process.
func ReadStat(pid int) (Stat, error) { return readStatFile(processFile(pid, "stat")) }

// readThreadStat returns the fields of one thread. For a
// process, the kernel adds up the fields of all threads, a tenth
// of a microsecond each.
func readThreadStat(pid, tid int) (Stat, error) {
	return readStatFile(threadFile(pid, tid, "stat"))
}

func readStatFile(path string) (Stat, error) {
	file, err := OpenFile(path)
	if err != nil {
		return Stat{}, err
	}
	defer file.Close()
	var buf statBuffer
	n, err := file.ReadAt(buf[:], 0)
	if err != nil {
		return Stat{}, err
	}
	return statOf(buf[:n])
}

// A statBuffer has room for twice as much as the fields can take.
type statBuffer [1024]byte

// statOf decodes the content of a stat file.
func statOf(b []byte) (Stat, error) {
	// The command is in parentheses and may contain any byte,
	// parentheses and spaces included.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 26 || len(fields[0]) != 1 {
		return Stat{}, fmt.Errorf("a stat file has %d fields: is /proc that of Linux?",
			len(fields)+2)
	}
	pid, _, _ := bytes.Cut(b, []byte(" "))
	number := func(field []byte) uint64 {
		n, _ := strconv.ParseUint(string(field), 10, 64)
		return n
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return Stat{
		PID: int(number(pid)), Parent: int(number(fields[1])), Group: int(number(fields[2])),
		State: fields[0][0], Flags: number(fields[6]), Start: start, Stack: number(fields[25]),
	}, err
}

// endedLooks is how many times in a row a process must look ended.
const endedLooks = 4

// HasEnded reports whether a process has certainly ended, and is
// gone or a zombie. One look is no proof: see LooksEnded.
func HasEnded(pid int) bool {
	for i := range endedLooks {
		if i > 0 {
			time.Sleep(time.Millisecond)
		}
		if !LooksEnded(pid) {
			return false
		}
	}
	return true
}

// LooksEnded reports whether a process seems to have ended. A
// zombie leader is no proof: another thread may be executing a
// program, and then takes over the leader's id. If that happens
// between the two looks here, the one thread is the new
// program's.
func LooksEnded(pid int) bool {
	s, err := ReadStat(pid)
	if s.State != 'Z' {
		return err != nil || s.State == 'X'
	}
	tids, err := ThreadsOf(pid)
	return err != nil || len(tids) <= 1
}

// processFile and threadFile return the path of a file below
// /proc. Package fmt could wait for a lock: see pin.
func processFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func threadFile(pid, tid int, name string) string {
	return processFile(pid, "task/"+strconv.Itoa(tid)+"/"+name)
}

// readFile returns the content of a file, as much as can be
// read. os.ReadFile could wait for a lock, as it does in a test.
func readFile(path string) []byte {
	file, err := OpenFile(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	b := make([]byte, 4096)
	for n := 0; ; {
		read, err := file.ReadAt(b[n:], int64(n))
		if n += read; read <= 0 || err != nil {
			return b[:n]
		}
		if n == len(b) {
			b = append(b, make([]byte, len(b))...)
		}
	}
}

// statusField returns the number in one line of a process's or
// thread's status file, the last if there are several; 0 if it
// can't be read.
func statusField(path, name string) int {
	_, after, ok := bytes.Cut(readFile(path), []byte("\n"+name+":\t"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, _ := strconv.Atoi(string(line[bytes.LastIndexByte(line, '\t')+1:]))
	return n
}

// tracerOf returns the id of the thread that traces a thread; 0
// if none does.
func tracerOf(pid, tid int) int {
	return statusField(threadFile(pid, tid, "status"), "TracerPid")
}

// isFiltered reports whether a filter (seccomp) decides which
// system calls a thread may make. The filter of a thread may
// come at any time.
func isFiltered(pid, tid int) bool {
	return statusField(threadFile(pid, tid, "status"), "Seccomp") != 0
}

// ProcessOf returns the id and the name of the process that a
// thread belongs to, such as 4711 and " (gdb)".
func ProcessOf(tid int) (pid int, name string) {
	pid = statusField(processFile(tid, "status"), "Tgid")
	if comm := bytes.TrimSpace(readFile(processFile(pid, "comm"))); len(comm) > 0 {
		name = " (" + string(comm) + ")"
	}
	return pid, name
}

// isChild reports whether a process is a child of the sampler.
func isChild(pid int) bool {
	return statusField(processFile(pid, "status"), "PPid") == os.Getpid()
}
