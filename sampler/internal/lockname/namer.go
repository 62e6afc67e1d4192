package lockname

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// A Waiter is a goroutine that waits for a lock.
type Waiter struct {
	Lock   uint64
	Frames []Frame // of the functions that took the lock or called those who did, innermost first; none of package sync
	Base   uint64  // where Stack begins
	Stack  []byte  // the copied part of the goroutine's stack
	// Argument is the one by which the innermost function reached the lock; nil if that is not known.
	Argument *LockArgument
}

// A Frame is one physical frame of a stack.
type Frame struct {
	PC  uint64 // the return address
	SP  uint64 // the stack pointer there
	CFA uint64 // the caller's stack pointer when the function has returned
}

// A Namer names the locks of one process. It is for one goroutine at a time.
type Namer struct {
	elf     *elf.File
	bias    uint64 // that addresses have been moved by
	read    func(addr uint64, b []byte) error
	debug   *debugInfo // nil without debug information
	symbols []elf.Symbol
	globals map[string][]globalVariable // by package
	places  map[uint64]variables        // by link address of a return
}

// New reads what is needed of a program's executable, which may take a second where that is large. Addresses in the process
// are those of the file moved by bias; read reads its memory.
func New(executable io.ReaderAt, bias uint64, read func(addr uint64, b []byte) error) (n *Namer, err error) {
	defer damaged(&err)
	f, err := elf.NewFile(executable)
	if err != nil {
		return nil, err
	}
	n = &Namer{elf: f, bias: bias, read: read, globals: make(map[string][]globalVariable), places: make(map[uint64]variables)}
	if n.debug, err = readDebugInfo(f); err != nil && !errors.Is(err, errNoDWARF) {
		return nil, err
	}
	return n, nil
}

// Name returns the name of the lock that a goroutine waits for, "" if there is none to be found.
func (n *Namer) Name(w *Waiter) (name string) {
	defer damaged(new(error))
	if link := w.Lock - n.bias; isVariable(n.elf, link) {
		return n.global(link)
	}
	if n.debug == nil {
		return ""
	}
	return n.byWaiter(w)
}

// damaged makes an error of a panic: that is what readers of debug information do where it is damaged, and files are not
// trusted.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the debug information is damaged: %v", r)
	}
}

// memory reads what was copied of the stack from the copy, and else from the process.
func (n *Namer) memory(w *Waiter, addr uint64, b []byte) error {
	if at := addr - w.Base; addr >= w.Base && at < uint64(len(w.Stack)) && uint64(len(w.Stack))-at >= uint64(len(b)) {
		copy(b, w.Stack[at:])
		return nil
	}
	return n.read(addr, b)
}
