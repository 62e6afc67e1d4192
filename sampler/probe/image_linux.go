//go:build linux && (amd64 || arm64)

package probe

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
)

// An image is the code of a process, in memory and in the file.
type image struct {
	program *Program
	file    os.FileInfo
	// of one address space: exec and exit end it. It is nil if
	// there is no other
	memory *os.File
	shift  uint64 // by which the code has moved, since the program was executed anew
}

// swbp is the instruction that the kernel writes.
var swbp = map[string][]byte{"amd64": {0xcc}, "arm64": {0xa0, 0, 0x20, 0xd4}}

func openImage(p *Program) (*image, error) {
	file, err := os.Stat(executable(p.PID))
	if err != nil {
		return nil, err
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
	return &image{program: p, file: file, memory: memory}, err
}

// left returns the places that have the kernel's breakpoint, and
// not what the file has.
func (i *image) left(places []uint64) (left []uint64) {
	want := swbp[runtime.GOARCH]
	now, once := make([]byte, len(want)), make([]byte, len(want))
	for _, pc := range places {
		if !i.read(pc, now) {
			continue
		}
		err := i.program.read(pc-i.program.bin.Bias, once)
		if err == nil && bytes.Equal(now, want) && !bytes.Equal(now, once) {
			left = append(left, pc)
		}
	}
	return left
}

// read returns false if the process has no such code any more.
func (i *image) read(pc uint64, b []byte) bool {
	_, err := i.memory.ReadAt(b, int64(pc+i.shift))
	if err != nil && i.memory != nil {
		i.renew()
		_, err = i.memory.ReadAt(b, int64(pc+i.shift))
	}
	return err == nil
}

// renew finds the code again after the process has executed the same file.
func (i *image) renew() {
	i.close()
	i.memory = nil
	pid := i.program.PID
	file, err := os.Stat(executable(pid))
	if err != nil || !os.SameFile(file, i.file) {
		return
	}
	again, err := OpenPID(pid)
	if err != nil {
		return
	}
	i.shift = again.bin.Bias - i.program.bin.Bias
	i.memory, _ = os.Open(fmt.Sprintf("/proc/%d/mem", pid))
}

func (i *image) close() { i.memory.Close() }
