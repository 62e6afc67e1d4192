//go:build linux && (amd64 || arm64)

package halt

import (
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
	p      *Process
	local  [maxRanges]unix.Iovec
	remote [maxRanges]unix.RemoteIovec
	Calls  int // number of system calls made

	end time.Time // when to begin no further system call; zero: never
	cut bool      // a read was left out for that reason
}

// NewReader returns a new reader. Several readers may read one process at the same time.
func (p *Process) NewReader() *Reader { return &Reader{p: p} }

// Read fills b with the memory at an address.
func (p *Process) Read(addr uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	local := [1]unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := [1]unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}
	n, err := readv(p.pid, local[:], remote[:])
	if err != nil {
		return fmt.Errorf("reading %d bytes at %#x of process %d: %w", len(b), addr, p.pid, err)
	}
	if n < len(b) {
		return fmt.Errorf("reading %d bytes at %#x of process %d: only %d are mapped", len(b), addr, p.pid, n)
	}
	return nil
}

// ReadAt implements io.ReaderAt; the offset is an address.
func (p *Process) ReadAt(b []byte, addr int64) (int, error) {
	if err := p.Read(uint64(addr), b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// ReadRanges reads all ranges, in order, in few system calls. If a range can't be read completely, ReadRanges shortens it
// to the bytes that it could read. It returns the number of such ranges. In a halt that has lasted too long, nothing can be read.
func (r *Reader) ReadRanges(rs []memory.Range) (failed int) {
	for len(rs) > 0 {
		if r.isOver() {
			return failed + unread(rs)
		}
		n, want := 0, 0
		for n < len(rs) && n < maxRanges {
			g := &rs[n]
			r.local[n] = unix.Iovec{Base: unsafe.SliceData(g.Buf), Len: uint64(len(g.Buf))}
			r.remote[n] = unix.RemoteIovec{Base: uintptr(g.Addr), Len: len(g.Buf)}
			want += len(g.Buf)
			n++
		}
		got, err := readv(r.p.pid, r.local[:n], r.remote[:n])
		r.Calls++
		if err == nil && got == want {
			rs = rs[n:]
			continue
		}
		// The ranges before the first unreadable one were read. If the call returned an error, none was read.
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

// readv calls process_vm_readv without informing Go's scheduler, since what the scheduler does around a system call that
// may block costs more than the call. Reading a megabyte takes a fraction of a millisecond; for so long the rest of the
// sampler may have to wait.
func readv(pid int, local []unix.Iovec, remote []unix.RemoteIovec) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
		uintptr(unsafe.Pointer(unsafe.SliceData(local))), uintptr(len(local)),
		uintptr(unsafe.Pointer(unsafe.SliceData(remote))), uintptr(len(remote)), 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}
