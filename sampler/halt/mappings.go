//go:build linux && (amd64 || arm64)

package halt

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A mappingKind says who supplies the pages of a mapping that
// are not there yet.
type mappingKind int

const (
	ofFile    mappingKind = iota // a file system, which may be a program or another machine
	ofProgram                    // the file system of the executable
	anonymous                    // the kernel, unless userfaultfd watches the mapping
)

// A mapping is a part of a process's address space.
type mapping struct {
	start, end uint64
	kind       mappingKind
}

// mappings lists a process's mappings, by address.
type mappings struct {
	list atomic.Pointer[[]mapping]

	mu   sync.Mutex
	next time.Time // when the list may be read again
}

// find returns the mapping that an address lies in. A halt has
// no time to read the list again.
func (m *mappings) find(p *Process, addr uint64) (mapping, bool) {
	if !p.halting.Load() {
		m.renew(p)
	}
	list := *m.list.Load()
	i, _ := slices.BinarySearchFunc(list, addr, func(e mapping, addr uint64) int {
		if e.end <= addr {
			return -1
		}
		return 1
	})
	if i == len(list) || addr < list[i].start {
		return mapping{}, false
	}
	return list[i], true
}

// renew reads the list again, unless that was done less than a
// second ago. A list of many thousand mappings takes
// milliseconds, and is read less often.
func (m *mappings) renew(p *Process) {
	if !m.mu.TryLock() { // somebody else renews it; a pinned worker must not wait (pin.go)
		return
	}
	defer m.mu.Unlock()
	if now := time.Now(); now.After(m.next) {
		text, _ := os.ReadFile(p.Path("maps"))
		list := parseMappings(text, uint64(p.probe))
		m.list.Store(&list)
		m.next = now.Add(max(time.Second, 100*time.Since(now)))
	}
}

// parseMappings decodes a maps file. The executable is the file
// that is mapped at a given address. A line of the file has the
// addresses, the access, the offset, the device, the inode (0 if
// the mapping is of no file), and the path:
//
//	7f0e3e360000-7f0e3e460000 rw-p 00000000 fe:00 9979116    /usr/bin/server
func parseMappings(text []byte, program uint64) (list []mapping) {
	var files, devices [][]byte
	var inode, device []byte // of the executable
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 5 {
			continue
		}
		from, to, _ := bytes.Cut(f[0], []byte("-"))
		start, err := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err != nil || err2 != nil || end <= start {
			continue
		}
		list, devices, files = append(list, mapping{start: start, end: end}), append(devices, f[3]),
			append(files, f[4])
		if start <= program && program < end {
			device, inode = f[3], f[4]
		}
	}
	for i := range list {
		switch {
		case string(files[i]) == "0":
			list[i].kind = anonymous
		case bytes.Equal(files[i], inode) && bytes.Equal(devices[i], device):
			list[i].kind = ofProgram
		}
	}
	return list
}
