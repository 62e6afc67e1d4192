package lockname

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"

	"github.com/cpprof/cpprof/sampler/holders/syncflow"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// An image is a program that is not running.
type image struct {
	*elf.File
	namer     *Namer
	functions map[string]elf.Symbol
}

func buildFor(t *testing.T, arch string, flags ...string) *image {
	t.Helper()
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", arch)
	t.Setenv("CGO_ENABLED", "0")
	f := fixture.Must(os.Open(fixture.Build(t, "locknames", flags...)))(t)
	t.Cleanup(func() { f.Close() })
	m := &image{functions: make(map[string]elf.Symbol)}
	m.File = fixture.Must(elf.NewFile(f))(t)
	m.namer = fixture.Must(New(f, 0, func(uint64, []byte) error { return errors.New("it does not run") }))(t)
	symbols := fixture.Must(m.Symbols())(t)
	for _, s := range symbols {
		m.functions[s.Name] = s
	}
	return m
}

// calls returns the return addresses of a function's calls to
// functions that take locks.
func (m *image) calls(t *testing.T, function string) (all []uint64) {
	t.Helper()
	f, ok := m.functions[function]
	if !ok {
		t.Fatalf("no function %s", function)
	}
	text := m.Section(".text")
	code := make([]byte, f.Size)
	fixture.Must(text.ReadAt(code, int64(f.Value-text.Addr)))(t)
	for at := range code {
		target, next := uint64(0), f.Value+uint64(at)
		switch {
		case m.Machine == elf.EM_X86_64 && code[at] == 0xe8 && at+5 <= len(code):
			next += 5
			target = next + uint64(int32(binary.LittleEndian.Uint32(code[at+1:])))
		case m.Machine == elf.EM_AARCH64 && at%4 == 0:
			if bl := binary.LittleEndian.Uint32(code[at:]); bl>>26 == 0x25 {
				target = next + uint64(int64(int32(bl<<6)>>6)*4)
			}
			next += 4
		}
		for _, name := range []string{"internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock"} {
			if s, ok := m.functions[name]; ok && target == s.Value {
				all = append(all, next)
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s takes no lock", function)
	}
	return all
}

// waits lists functions of testdata/programs/locknames, and the lock that each waits for.
var waits = []struct {
	function string
	offset   int64 // offset of the lock in what the function's first argument points to
	want     string
}{
	{"main.(*cache).waitMu", 8, "main.(*cache).mu"},
	{"main.(*cache).waitDeferred", 8, "main.(*cache).mu"},
	{"main.(*cache).waitInner", 24, "main.(*inner).mu"},
	{"main.(*account).wait", 0, "main.(*account).Mutex"}, // only by the argument, or a variable with a location
	{"main.(*box[go.shape.int]).wait", 8, "main.(*box[...]).mu"},
	{"main.take", 0, "mu in main.take"},
}

// On each processor, the function of a waiter leads to the
// lock's name: one word of its frame is a variable that points
// to the lock.
func TestProcessors(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, flags := range [][]string{nil, {"-gcflags=-N -l"}} {
			m := buildFor(t, arch, flags...)
			for _, test := range waits {
				for _, w := range m.waiters(t, test.function, test.offset) {
					for at := 0; at < len(w.Stack); at += 8 {
						binary.LittleEndian.PutUint64(w.Stack[at:], aThing)
					}
					if got := m.namer.Name(w); got != test.want && (got != "" || flags != nil || test.function != "main.(*account).wait") {
						t.Errorf("%s %v: %s waits for %q, want %q", arch, flags, test.function, got, test.want)
					}
				}
			}
		}
	}
}

// If nothing in the frame leads to the lock, the function's argument does.
func TestLockPaths(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		m := buildFor(t, arch)
		for _, test := range waits {
			for _, w := range m.waiters(t, test.function, test.offset) {
				if got := m.namer.Name(w); got != "" {
					t.Errorf("%s: %s waits for %q, and nothing leads there", arch, test.function, got)
				}
				w.Paths = []syncflow.LockPath{{PC: m.functions[test.function].Value, Offsets: []int64{test.offset}}}
				if got := m.namer.Name(w); got != test.want {
					t.Errorf("%s: %s waits for %q, want %q", arch, test.function, got, test.want)
				}
			}
		}
	}
}

// aThing is the address of the object that has the lock.
const aThing = 0xc000010000

// waiters returns goroutines at each of a function's calls to
// functions that take locks, with an empty stack.
func (m *image) waiters(t *testing.T, function string, offset int64) (all []*Waiter) {
	const stack = 0xc000100000
	for _, pc := range m.calls(t, function) {
		frame := Frame{PC: pc, SP: stack, CFA: stack + 128}
		all = append(all, &Waiter{Lock: uint64(aThing + offset), Base: stack, Stack: make([]byte, 256), Frames: []Frame{frame}})
	}
	return all
}
