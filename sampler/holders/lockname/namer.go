package lockname

import (
	"debug/elf"
	"errors"
	"io"

	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/debuginfo"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// A Waiter is a goroutine that waits for a lock.
type Waiter struct {
	Lock uint64
	// the frames of the functions that took the lock and of
	// their callers, innermost first; none of package sync
	Frames []Frame
	Base   uint64 // address of Stack
	Stack  []byte // the copied part of the goroutine's stack
	// how the innermost function reached the lock, as far as its
	// code shows it
	Paths []syncflow.LockPath
	// it waits for several things: a word of the frame may be
	// another one's
	Several bool
	// it waits in a select, or to send: for a channel or a
	// semaphore, and for no lock of package sync
	Channel bool
}

// A Frame is one physical frame of a stack.
type Frame struct {
	PC  uint64 // the return address
	SP  uint64 // the stack pointer there
	CFA uint64 // the stack pointer of the caller after the function has returned
}

// A Namer names the locks of one process. It is not safe for
// concurrent use.
type Namer struct {
	elf     *elf.File
	bias    uint64 // the distance by which addresses were moved in the process
	read    func(addr uint64, b []byte) error
	debug   *debuginfo.Info // nil if the program has no debug information
	symbols []elf.Symbol
	places  map[uint64][]debuginfo.Variable // by link address of a return
	// variables of packages that are pointers
	pointers map[string][]object
}

// New reads what it needs of a program's executable, which may
// take a second for a large one. Addresses in the process are
// the file's plus bias. The function read reads the process's
// memory.
func New(executable io.ReaderAt, bias uint64, read func(addr uint64, b []byte) error) (n *Namer,
	err error) {
	defer debuginfo.Damaged(&err)
	f, err := elffile.New(executable)
	if err != nil {
		return nil, err
	}
	n = &Namer{elf: f, bias: bias, read: read, places: make(map[uint64][]debuginfo.Variable),
		pointers: make(map[string][]object)}
	if n.debug, err = debuginfo.Read(f); err != nil && !errors.Is(err, debuginfo.ErrNone) {
		return nil, err
	}
	return n, nil
}

// Name returns the name of the lock that a goroutine waits for;
// "" if it finds none.
func (n *Namer) Name(w *Waiter) (name string) {
	defer debuginfo.Damaged(new(error))
	if link := w.Lock - n.bias; elffile.IsVariable(n.elf, link) {
		return n.global(link)
	}
	if n.debug == nil {
		return ""
	}
	return n.byWaiter(w)
}

// memory reads from the copy of the stack if the address lies in
// it, else from the process.
func (n *Namer) memory(w *Waiter, addr uint64, b []byte) error {
	if at := addr - w.Base; addr >= w.Base && at < uint64(len(w.Stack)) &&
		uint64(len(w.Stack))-at >= uint64(len(b)) {
		copy(b, w.Stack[at:])
		return nil
	}
	return n.read(addr, b)
}
