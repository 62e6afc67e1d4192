package lockname

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Naming ends without a panic, whatever a file's debug information contains.
func TestDamagedDebugInformation(t *testing.T) {
	good := fixture.Must(os.ReadFile(fixture.Build(t, "locknames", "-ldflags=-compressdwarf=false")))(t)
	f := fixture.Must(elf.NewFile(bytes.NewReader(good)))(t)
	symbols := fixture.Must(f.Symbols())(t)
	var waiters []Waiter
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range symbols {
		if s.Name == "main.(*cache).waitMu" || s.Name == "main.(*cache).waitMap" || s.Name == "main.local.func1" {
			w := Waiter{Lock: 0xc000010008, Base: 0xc000100000, Stack: make([]byte, 256)}
			for at := 0; at < len(w.Stack); at += 8 {
				binary.LittleEndian.PutUint64(w.Stack[at:], 0xc000010000+uint64(at%16))
			}
			for pc := s.Value + 8; pc < s.Value+s.Size; pc += 16 {
				w.Frames = append(w.Frames, Frame{PC: pc, SP: w.Base, CFA: w.Base + 128})
			}
			waiters = append(waiters, w)
		}
	}
	memory := func(_ uint64, b []byte) error {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return nil
	}
	named := func(file []byte) (n int) {
		namer, err := New(bytes.NewReader(file), 0, memory)
		if err != nil {
			return 0
		}
		for i := range waiters {
			if namer.Name(&waiters[i]) != "" {
				n++
			}
		}
		return n
	}
	if n := named(good); n != len(waiters) || n != 3 {
		t.Fatalf("%d of %d locks have names in a good file", n, len(waiters))
	}
	for range 200 {
		file := bytes.Clone(good)
		for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_loc", ".debug_addr", ".debug_rnglists"} {
			if s := f.Section(name); s != nil && r.IntN(2) == 0 {
				for range 1 + r.IntN(2000) {
					file[s.Offset+r.Uint64N(s.FileSize)] = byte(r.Uint32())
				}
			}
		}
		named(file)
	}
}
