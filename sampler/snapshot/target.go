//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A target is a running Go program whose runtime can be read.
type target struct {
	*halt.Process
	numbers *halt.Numbers
	bin     *gobinary.Binary
	l       *layout.Layout
	g       offsets
	reasons goruntime.Reasons
	// the halt reads an m from here on: the lower of m.procid and m.curg
	procID  int
	procLen int
	mLen    int // bytes that are read of an m
	pHead   int // bytes of a p up to its holder
	pLen    int // bytes of a p up to its queue

	schedLen int // bytes that are read of runtime.sched

	allp [16]byte // runtime.allp at the time when the addresses below were read from it
	ps   []uint64
}

// openTarget attaches to a process, and checks that its memory
// has the expected layout.
func openTarget(pid int) (*target, error) {
	p, err := halt.Open(pid)
	if err != nil {
		return nil, err
	}
	t := &target{Process: p, numbers: halt.NewNumbers(p)}
	if err := t.open(); err != nil {
		defer p.Close()
		return nil, fmt.Errorf("attach to %d: %w", pid, t.because(err))
	}
	return t, nil
}

// because returns the reason for an error of reading the
// process. If the process is ending or executing another
// program, its memory makes no sense, and only that is worth
// reporting.
func (t *target) because(err error) error {
	switch gone := t.Diagnose(); {
	case errors.Is(gone, halt.ErrExec):
		return sampler.ErrExec
	case gone != nil:
		return gone
	}
	return err
}

func (t *target) open() error {
	f, entry, err := t.Executable()
	if err != nil {
		return err
	}
	defer f.Close()
	if t.bin, err = gobinary.Open(f, entry); err != nil {
		return err
	}
	if err = t.use(); err == nil || t.bin.Layout.Source != layout.FromTable {
		return err
	}
	// The toolchain may have been changed, and still call itself a release.
	if own, ownErr := gobinary.OpenAsBuilt(f, entry); ownErr == nil {
		t.bin = own
		return t.use()
	}
	return err
}

// use takes what is needed from the binary, and checks that the
// process's memory agrees with it.
func (t *target) use() error {
	if t.bin.Arch != runtime.GOARCH {
		return fmt.Errorf("it is a program for %s: use a cpprof built for that processor",
			t.bin.Arch)
	}
	t.l = t.bin.Layout
	if missing := t.bin.Globals.Missing(); len(missing) > 0 {
		return fmt.Errorf("%s was read, but %s not found in it: build it without -ldflags=-s, or use --backend delve",
			t.bin.Version, strings.Join(missing, ", "))
	}
	t.lay()
	var err error
	t.reasons, err = goruntime.ReadReasons(t.Read, t.bin.Globals.WaitReasonStrings)
	if err != nil {
		return fmt.Errorf("the wait reasons of %s were not found where they should be (%w): use --backend delve", t.bin.Version, err)
	}
	return t.validate()
}

// lay computes how many bytes of each struct are read.
func (t *target) lay() {
	g, m, p := &t.l.G, &t.l.M, &t.l.P
	t.g = newOffsets(g)
	t.procID = int(min(m.ProcID, m.CurG))
	t.procLen = int(max(m.ProcID, m.CurG)) + 8 - t.procID
	t.mLen = int(max(m.ProcID, m.CurG, m.G0, m.ID, m.AllLink, m.P, m.OldP, m.VDSOSP, m.VDSOPC,
		m.SyscallTick)) + 8
	t.pHead = int(max(p.ID, p.Status, p.M, p.SchedTick, p.SyscallTick)) + 8
	t.pLen = max(t.pHead, int(max(p.RunqHead, p.RunqTail, p.RunNext))+8,
		int(p.Runq)+8*goruntime.RunqLen)
	s := &t.l.Sched
	t.schedLen = int(max(s.RunqHead, s.GCWaiting)) + 8
}

// word reads a word of the target's memory.
func (t *target) word(at uint64) (uint64, error) {
	var b [8]byte
	err := t.Read(at, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// processors returns the addresses of the p in use. They don't
// change as long as runtime.allp does not.
func (t *target) processors() ([]uint64, error) {
	var h [16]byte
	if err := t.Read(t.bin.Globals.AllP, h[:]); err != nil {
		return nil, err
	}
	if t.ps != nil && h == t.allp {
		return t.ps, nil
	}
	n := binary.LittleEndian.Uint64(h[8:])
	if n == 0 || n > 1<<14 {
		return nil, fmt.Errorf("runtime.allp has %d elements", n)
	}
	b := make([]byte, 8*n)
	if err := t.Read(binary.LittleEndian.Uint64(h[:]), b); err != nil {
		return nil, err
	}
	ps := make([]uint64, n)
	for i := range ps {
		ps[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if !slices.Contains(ps, 0) { // otherwise their number is just being changed
		t.allp, t.ps = h, ps
	}
	return ps, nil
}
