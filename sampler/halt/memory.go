//go:build linux && (amd64 || arm64)

package halt

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/target/memory"
)

// maxRanges is how many ranges one system call accepts (IOV_MAX).
const maxRanges = 1024

// A Reader reads a process's memory. It is not safe for concurrent use.
type Reader struct {
	p         *Process
	residents residents
	asked     time.Time // when residents was last emptied
	local     [maxRanges]unix.Iovec
	remote    [maxRanges]unix.RemoteIovec
	Calls     int // number of system calls made

	end time.Time // when to begin no further system call; zero: never
	cut bool      // a read was left out for that reason
}

// NewReader returns a new reader. Several readers may read one
// process at the same time.
func (p *Process) NewReader() *Reader { return &Reader{p: p} }

// errUnanswered reports that a read would have waited for an
// answer, perhaps forever.
var errUnanswered = errors.New("a page is not there, and only another program could supply it (userfaultfd, or a file system)")

// Read fills b with the memory at an address.
func (p *Process) Read(addr uint64, b []byte) error {
	var n int
	var err error
	if p.areResident(addr, len(b)) {
		n, err = p.readOnce(addr, b)
	} else {
		n, err = p.readAbsent(addr, b)
	}
	if err != nil || n < len(b) {
		return &readError{p.pid, addr, len(b), n, err}
	}
	return nil
}

// A readError says which memory could not be read. It is made in
// halts, and not put into words there: see pin.go.
type readError struct {
	pid       int
	addr      uint64
	want, got int
	err       error // nil if memory is mapped for got bytes only
}

func (e *readError) Error() string {
	text := fmt.Sprintf("reading %d bytes at %#x of process %d: ", e.want, e.addr, e.pid)
	if e.err != nil {
		return text + e.err.Error()
	}
	return text + fmt.Sprintf("only %d are mapped", e.got)
}

func (e *readError) Unwrap() error { return e.err }

// readOnce reads memory with one system call. It returns the
// number of bytes.
func (p *Process) readOnce(addr uint64, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	local := [1]unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := [1]unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}
	return p.readv(local[:], remote[:])
}

// ReadRanges reads all ranges, in order, in few system calls. If
// a range can't be read completely, ReadRanges shortens it to
// the bytes that it could read. It returns the number of such
// ranges. In a halt that has lasted too long, nothing can be
// read.
func (r *Reader) ReadRanges(rs []memory.Range) (failed int) {
	if now := time.Now(); now.Sub(r.asked) > rememberResidents {
		r.residents, r.asked = residents{}, now
	}
	for len(rs) > 0 {
		if r.isOver() {
			return failed + unread(rs)
		}
		n, want := r.enlist(rs)
		if n == 0 {
			got, err := r.p.readAbsent(rs[0].Addr, rs[0].Buf)
			if got < len(rs[0].Buf) || err != nil {
				rs[0].Buf = rs[0].Buf[:got]
				failed++
			}
			rs = rs[1:]
			continue
		}
		got, err := r.p.readv(r.local[:n], r.remote[:n])
		r.Calls++
		if err == nil && got == want {
			rs = rs[n:]
			continue
		}
		// The ranges before the first unreadable one were read.
		// If the call returned an error, none was read.
		i := 0
		if err != nil {
			got = 0
		}
		for i < n-1 && got >= len(rs[i].Buf) {
			got -= len(rs[i].Buf)
			i++
		}
		rs[i].Buf = rs[i].Buf[:min(got, len(rs[i].Buf))]
		failed++
		rs = rs[i+1:]
		if err == unix.ESRCH || err == unix.EPERM {
			return failed + unread(rs)
		}
	}
	return failed
}

// enlist lists ranges for one system call, up to the first one
// with an absent page. It returns their number and size.
func (r *Reader) enlist(rs []memory.Range) (n, size int) {
	for n < len(rs) && n < maxRanges && r.residents.areResident(r.p, rs[n].Addr, len(rs[n].Buf)) {
		g := &rs[n]
		r.local[n] = unix.Iovec{Base: unsafe.SliceData(g.Buf), Len: uint64(len(g.Buf))}
		r.remote[n] = unix.RemoteIovec{Base: uintptr(g.Addr), Len: len(g.Buf)}
		size += len(g.Buf)
		n++
	}
	return n, size
}

// unread marks ranges as not read, and returns their number.
func unread(rs []memory.Range) int {
	for i := range rs {
		rs[i].Buf = rs[i].Buf[:0]
	}
	return len(rs)
}

// isOver reports whether the halt has lasted too long.
func (r *Reader) isOver() bool {
	if r.end.IsZero() || time.Now().Before(r.end) {
		return false
	}
	r.cut = true
	return true
}

// readv calls process_vm_readv. In a halt, it does so without
// informing Go's scheduler, since what the scheduler does around
// a system call that may block costs more than the call.
func (p *Process) readv(local []unix.Iovec, remote []unix.RemoteIovec) (int, error) {
	call := unix.Syscall6
	if p.halting.Load() {
		call = unix.RawSyscall6
	}
	p.calls.begun.Add(1)
	n, _, e := call(unix.SYS_PROCESS_VM_READV, uintptr(p.pid),
		uintptr(unsafe.Pointer(unsafe.SliceData(local))), uintptr(len(local)),
		uintptr(unsafe.Pointer(unsafe.SliceData(remote))), uintptr(len(remote)), 0)
	p.calls.done.Add(1)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}
