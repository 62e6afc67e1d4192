// Package page makes memory that never answers a read, for programs that test what a sampler does about it.
package page

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

//go:linkname setLabels runtime/pprof.runtime_setProfLabel
func setLabels(p unsafe.Pointer)

const size = 1 << 20 // of the memory that does not answer

const discard = 4 // MADV_DONTNEED

// New returns the address of memory whose pages nobody supplies: userfaultfd watches the memory, or a part of Go's heap ("heap"),
// or it is a file of a file system that is this program ("fuse"), mounted at a path.
func New(kind, path string) (uintptr, error) {
	switch kind {
	case "userfaultfd":
		page, err := mapped(syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON, -1)
		if err == nil {
			_, err = watch(page)
		}
		return page, err
	case "heap":
		return inHeap()
	case "fuse":
		return ofFile(path)
	}
	return 0, fmt.Errorf("unknown kind of page %q", kind)
}

// Label makes an address that of the labels of the goroutine that calls it.
func Label(page uintptr) {
	setLabels(*(*unsafe.Pointer)(unsafe.Pointer(&page))) // no object of Go lies there
}

// large is an object with pointers, a part of which nobody supplies.
var large []*byte

// inHeap returns the address of such a part. The collector never runs again: it would wait there.
func inHeap() (uintptr, error) {
	debug.SetGCPercent(-1)
	large = make([]*byte, 3*size/8)
	page := (uintptr(unsafe.Pointer(&large[0])) + size) &^ (size - 1)
	if _, _, e := syscall.Syscall(syscall.SYS_MADVISE, page, size, discard); e != 0 {
		return 0, os.NewSyscallError("madvise", e)
	}
	_, err := watch(page)
	return page, err
}

// watch lets a userfaultfd watch memory, and returns it. Its reads don't wait. Nobody supplies what it reports.
func watch(page uintptr) (fd uintptr, err error) {
	const api, register = 0xc018aa3f, 0xc020aa00
	fd, _, e := syscall.RawSyscall(userfaultfd, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0, 0)
	if e != 0 {
		return 0, os.NewSyscallError("userfaultfd", e)
	}
	hello := struct{ api, features, calls uint64 }{api: 0xaa}
	if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, fd, api, uintptr(unsafe.Pointer(&hello))); e != 0 {
		return 0, os.NewSyscallError("ioctl", e)
	}
	missing := struct{ start, size, mode, calls uint64 }{uint64(page), size, 1, 0}
	if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, fd, register, uintptr(unsafe.Pointer(&missing))); e != 0 {
		return 0, os.NewSyscallError("ioctl", e)
	}
	return fd, nil
}

// Vanishing returns the address of a page that comes and goes until somebody waits for it. Then it is gone for good, and hit is
// called.
func Vanishing(hit func()) (uintptr, error) {
	const zero = 0xc020aa04
	page, err := mapped(syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON, -1)
	if err != nil {
		return 0, err
	}
	fd, err := watch(page)
	if err != nil {
		return 0, err
	}
	go func() {
		for {
			come := struct{ start, size, mode, done uint64 }{start: uint64(page), size: uint64(os.Getpagesize())}
			syscall.Syscall(syscall.SYS_IOCTL, fd, zero, uintptr(unsafe.Pointer(&come)))
			syscall.Syscall(syscall.SYS_MADVISE, page, uintptr(come.size), discard)
			var waits [32]byte
			if n, _, e := syscall.Syscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&waits)), 32); e == 0 && n > 0 {
				hit()
				return
			}
		}
	}()
	return page, nil
}

// ofFile returns the address of a mapped file of a file system that this program serves, and whose content it never supplies.
func ofFile(place string) (uintptr, error) {
	if err := mount(place, &file{size: size, mode: syscall.S_IFREG | 0o444}); err != nil {
		return 0, err
	}
	fd, err := syscall.Open(place, syscall.O_RDONLY, 0)
	if err != nil {
		return 0, os.NewSyscallError("open", err)
	}
	defer syscall.Close(fd) // at the end of the program nobody would answer what the kernel asks then
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return 0, os.NewSyscallError("fstat", err)
	}
	return mapped(syscall.PROT_READ, syscall.MAP_SHARED, fd)
}

// Executable makes a path this program's executable, in a file system that this program serves
// until silence is called. Only what the calling goroutine starts sees it.
func Executable(place string) (silence func(), err error) {
	content, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	stat, err := content.Stat()
	if err != nil {
		return nil, err
	}
	f := &file{size: uint64(stat.Size()), mode: syscall.S_IFREG | 0o555, content: content}
	return func() { f.silent.Store(true) }, mount(place, f)
}

// mount mounts a file at a path. The calling goroutine keeps its thread: no other one sees it.
func mount(place string, f *file) error {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	device, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open /dev/fuse", err)
	}
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		return err
	}
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=0,group_id=0", device, f.mode)
	if err := syscall.Mount("silent", place, "fuse", 0, options); err != nil {
		return os.NewSyscallError("mount of fuse", err)
	}
	go f.serve(device)
	return nil
}

func mapped(access, flags, fd int) (uintptr, error) {
	page, _, e := syscall.RawSyscall6(syscall.SYS_MMAP, 0, size, uintptr(access), uintptr(flags), uintptr(fd), 0)
	if e != 0 {
		return 0, os.NewSyscallError("mmap", e)
	}
	return page, nil
}

// MoveArguments makes the kernel look for the arguments and the environment of this program at an address. It reports whether
// the kernel permits that.
func MoveArguments(page uintptr) bool {
	const setMM, setAll = 35, 14
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	field := func(i int) uint64 {
		n, _ := strconv.ParseUint(fields[i-3], 10, 64)
		return n
	}
	end, _, _ := syscall.RawSyscall(syscall.SYS_BRK, 0, 0, 0)
	at := uint64(page)
	layout := struct {
		code, data, heap [2]uint64
		stack            uint64
		args, env        [2]uint64
		aux              uint64
		auxSize, exe     uint32
	}{
		code: [2]uint64{field(26), field(27)}, data: [2]uint64{field(45), field(46)}, heap: [2]uint64{field(47), uint64(end)},
		stack: field(28), args: [2]uint64{at, at + 64}, env: [2]uint64{at, at + 64}, exe: 1<<32 - 1,
	}
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setMM, setAll, uintptr(unsafe.Pointer(&layout)), unsafe.Sizeof(layout), 0, 0)
	return e == 0
}
