//go:build linux && (amd64 || arm64)

package halt

import (
	"encoding/binary"
	"os"
	"time"
)

// Some pages answer a read only when another program says so: a
// page that userfaultfd watches, or a page of a file whose file
// system is a program (FUSE) or another machine.
// process_vm_readv waits for such a page, perhaps forever, and a
// program that is halted may be the one that should answer. So
// the kernel is asked first which pages are there
// (/proc/PID/pagemap): to copy a present page takes no time.
// Other pages are read by way of readAbsent.

var (
	pageSize  = uint64(os.Getpagesize())
	pageGroup = 64 * pageSize
)

// A pagemap entry has these bits for a page that can be read
// without waiting for anybody.
const pagePresent, pageSwapped = 1 << 63, 1 << 62

// rememberResidents is how long a page counts as present that was so.
const rememberResidents = time.Second

// residents remembers which pages were present. Each entry
// stands for 64 pages. An entry gives way to any other one with
// the same place in the array.
type residents [4096]struct{ group, present uint64 }

// areResident reports whether all pages of a range are present,
// or were so the last time that somebody asked.
func (r *residents) areResident(p *Process, addr uint64, n int) bool {
	return allGroups(addr, n, func(at, want uint64) bool {
		number := at/pageGroup + 1 // 0: no group
		e := &r[(number^number>>12)%uint64(len(r))]
		if e.group != number || e.present&want != want {
			e.group, e.present = number, p.present(at)
		}
		return e.present&want == want
	})
}

// areResident reports whether all pages of a range are present right now.
func (p *Process) areResident(addr uint64, n int) bool {
	return allGroups(addr, n, func(at, want uint64) bool { return p.present(at)&want == want })
}

// allGroups reports whether f holds for each group of 64 pages
// that a range touches. It passes the address of the group, and
// which of its pages are in the range, the first page in the
// lowest bit.
func allGroups(addr uint64, n int, f func(at, want uint64) bool) bool {
	if n == 0 {
		return true
	}
	last := addr + uint64(n) - 1
	for at := addr &^ (pageGroup - 1); ; at += pageGroup {
		from, to := (max(at, addr)-at)/pageSize, (min(at+pageGroup-1, last)-at)/pageSize
		if !f(at, ^uint64(0)<<from&(^uint64(0)>>(63-to))) {
			return false
		}
		if last-at < pageGroup {
			return true
		}
	}
}

// present returns which of the 64 pages from an address on are
// present, the first page in the lowest bit.
func (p *Process) present(at uint64) (present uint64) {
	if p.pagemap.fd < 0 { // the kernel does not tell
		return ^uint64(0)
	}
	var b [64 * 8]byte
	n, _ := p.pagemap.ReadAt(b[:], int64(at/pageSize*8))
	for i := range n / 8 {
		if binary.LittleEndian.Uint64(b[8*i:])&(pagePresent|pageSwapped) != 0 {
			present |= 1 << i
		}
	}
	return present
}

// readAbsent reads memory that has absent pages, as far as that
// needs nobody's answer. It returns the number of bytes. In a
// halt, it goes by the list of mappings as it last was.
func (p *Process) readAbsent(addr uint64, b []byte) (n int, err error) {
	for n < len(b) {
		at := addr + uint64(n)
		m, ok := p.mappings.find(p, at)
		if !ok {
			return n, nil
		}
		piece := b[n:min(len(b), n+int(min(m.end-at, 1<<30)))]
		got := p.readMapped(m.kind, at, piece)
		n += got
		switch {
		case got == len(piece):
		case p.hasMemory():
			p.unanswered.Add(1)
			return n, errUnanswered
		default:
			return n, nil
		}
	}
	return n, nil
}

// hasMemory reports whether the process has not ended, nor
// executed another program. Until then, the read of an address
// that is not mapped is an error.
func (p *Process) hasMemory() bool {
	var b [1]byte
	_, err := p.mem.ReadAt(b[:], 0)
	return err != nil
}

// readMapped reads memory of one mapping.
func (p *Process) readMapped(kind mappingKind, addr uint64, b []byte) (n int) {
	switch kind {
	case ofProgram:
		n, _ = p.readOnce(addr, b)
	case anonymous:
		// A read of this file fails at a page that userfaultfd
		// watches. It would wait for a file system, without end.
		n, _ = p.mem.ReadAt(b, int64(addr))
	case ofFile:
		for n < len(b) && p.present((addr+uint64(n))&^(pageSize-1))&1 != 0 {
			n += int(pageSize - (addr+uint64(n))%pageSize)
		}
		n, _ = p.readOnce(addr, b[:min(n, len(b))])
	}
	return n
}

// Unanswered returns how many reads have failed since the last
// call because a page of the program was not there, and only
// another program could have supplied it.
func (p *Process) Unanswered() int64 { return p.unanswered.Swap(0) }
