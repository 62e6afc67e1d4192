package page

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync/atomic"
	"syscall"
)

// Requests of the kernel to a file system, of its fuse.h.
const (
	forget, getAttributes, open, read, initialize, interrupt, batchForget = 2, 3, 14, 15, 26, 36, 42
)

type request struct {
	Size, Kind     uint32
	Unique, Node   uint64
	UID, GID, PID  uint32
	ExtensionSizes uint32
}

type answer struct {
	Size   uint32
	Error  int32
	Unique uint64
}

// attributes are those of the only file.
type attributes struct {
	Valid                      uint64
	ValidNanoseconds, _        uint32
	Inode, Size, Blocks        uint64
	_                          [3]uint64
	_                          [3]uint32
	Mode, Links                uint32
	UID, GID, Device, Block, _ uint32
}

// A file is the only one of the file system.
type file struct {
	size    uint64
	mode    uint32
	content *os.File // nil: it is never supplied
	silent  atomic.Bool
}

// serve answers all requests except those for the content of the file; nothing once it is silent.
func (f *file) serve(device int) {
	defer syscall.Close(device) // whoever waits for an answer gets an error
	b := make([]byte, 1<<17)
	for {
		n, err := syscall.Read(device, b)
		if err == syscall.EINTR || err == syscall.ENOENT {
			continue
		}
		var r request
		if err != nil || binary.Read(bytes.NewReader(b[:n]), binary.LittleEndian, &r) != nil {
			return
		}
		if f.silent.Load() {
			continue
		}
		var body any = struct{}{}
		a := answer{Unique: r.Unique}
		switch r.Kind {
		case forget, batchForget, interrupt:
			continue
		case read:
			if f.content == nil {
				continue
			}
			var of struct {
				Handle, Offset uint64
				Size           uint32
			}
			if binary.Read(bytes.NewReader(b[binary.Size(r):n]), binary.LittleEndian, &of) != nil {
				return
			}
			text := make([]byte, of.Size)
			got, _ := f.content.ReadAt(text, int64(of.Offset))
			body = text[:got]
		case initialize:
			body = [16]uint32{7, 31, 4096, 0, 16<<16 | 12, 4096, 1}
		case getAttributes:
			body = attributes{Valid: 3600, Inode: 1, Size: f.size, Blocks: f.size / 512, Mode: f.mode, Links: 1, Block: 4096}
		case open:
			body = [2]uint64{1}
		default:
			a.Error = -int32(syscall.ENOSYS)
		}
		a.Size = uint32(binary.Size(a) + binary.Size(body))
		var out bytes.Buffer
		binary.Write(&out, binary.LittleEndian, a)
		binary.Write(&out, binary.LittleEndian, body)
		syscall.Write(device, out.Bytes())
	}
}
