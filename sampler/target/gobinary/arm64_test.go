//go:build linux && amd64

package gobinary_test

import (
	"encoding/binary"
	"os/exec"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
)

// placeIn returns an address in a function, at which its frame
// uses room on the stack, or at which it uses none.
func placeIn(t *testing.T, table *pclntab.Table, name string, room bool) (pc uint64, delta int32) {
	t.Helper()
	f, ok := table.Find(name)[name]
	if !ok {
		t.Fatalf("no function %s", name)
	}
	for pc := f.Entry; pc < f.End; pc += 4 {
		if d, ok := f.SPDelta(pc); ok && room == (d > 0) {
			return pc, d
		}
	}
	t.Fatalf("%s has no such place", name)
	return 0, 0
}

// TestARM64 lays out stacks by the arm64 convention, with the
// tables of a program built for it: the return address of a
// frame is at its stack pointer; a function without a frame has
// it in the link register.
func TestARM64(t *testing.T) {
	b := openFile(t, link(t, "", "target", "arm64"))
	u := fixture.Must(unwind.New(b.Table, b.Arch))(t)
	const lo, size = 0x10000, 0x1000
	outer, _ := placeIn(t, b.Table, "main.grow", true)
	middle, middleRoom := placeIn(t, b.Table, "main.busy", true)
	leaf, _ := placeIn(t, b.Table, "main.fault", false)
	bottom := b.Table.Find("runtime.goexit")["runtime.goexit"].Entry + 4

	mem := &copied{lo, make([]byte, size)}
	put := func(at, v uint64) { binary.LittleEndian.PutUint64(mem.data[at-lo:], v) }
	sp := uint64(lo + 0x800)
	put(sp, outer)
	put(sp+uint64(middleRoom), bottom)
	handler := uint64(0x20000) // not copied

	check := func(name string, c unwind.Context, want ...uint64) {
		t.Helper()
		c.StackLo, c.StackHi = lo, lo+size
		frames, res := u.Unwind(nil, mem, &c)
		var got []uint64
		for _, f := range frames {
			got = append(got, f.PC)
		}
		if !slices.Equal(got, want) || res.Torn {
			t.Errorf("%s: got %#x, %+v; want %#x", name, got, res, want)
		}
	}
	check("parked", unwind.Context{SchedPC: middle, SchedSP: sp}, middle, outer, bottom)
	check("leaf", unwind.Context{OnThread: true, Regs: unwind.Registers{PC: leaf, SP: sp, LR: middle}}, leaf, middle, outer, bottom)
	check("with a frame", unwind.Context{OnThread: true, Regs: unwind.Registers{PC: middle, SP: sp, LR: handler}}, middle, outer, bottom)

	// A function without a frame is interrupted: asyncPreempt
	// seems to be called from it, with the link register saved
	// above asyncPreempt's frame.
	preempted, room := placeIn(t, b.Table, "runtime.asyncPreempt", true)
	top := sp - 16 - uint64(room)
	put(top, leaf)
	put(top+uint64(room), middle)
	check("preempted", unwind.Context{SchedPC: preempted, SchedSP: top}, preempted, leaf, middle, outer, bottom)
}

// TestARM64Parked unwinds the parked goroutines of a program for
// arm64 that runs in an emulator. The program's memory is the
// emulator's, at the same addresses.
func TestARM64Parked(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skip("there is no qemu-aarch64 to run programs for arm64 with (Debian: qemu-user)")
	}
	for name, flags := range map[string][]string{"plain": nil, "stripped": {"-ldflags=-s -w"}} {
		t.Run(name, func(t *testing.T) {
			path := link(t, "", "target", "arm64", flags...)
			p := launch(t, qemu, path)
			p.bin = openFile(t, path)
			compareParked(t, p)
		})
	}
}
