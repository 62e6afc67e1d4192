package delve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/core"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

// ReadCore reads a core dump of a Linux program, or a minidump
// of Windows, as a recording of one sample. The executable is
// the program's, with debug information.
func ReadCore(path, executable string) (r *sampledata.Recording, err error) {
	defer func() {
		// Delve trusts its files more than it may.
		if problem := recover(); problem != nil {
			r, err = nil, fmt.Errorf("core dump: it is damaged, or not of %s: %v", executable,
				problem)
		}
	}()
	info, err := sampler.ReadExecutable(executable)
	if err != nil {
		return nil, err
	}
	if !info.DWARF {
		return nil, fmt.Errorf("%s has no symbols, without which a core dump can't be read: build it without -ldflags=-s and -w", executable)
	}
	lacks, err := checkCore(path)
	if err != nil {
		return nil, fmt.Errorf("core dump: %w", err)
	}
	if err := try(executable); err != nil {
		return nil, fmt.Errorf("reading the debug information of %s: %w", info.Path, err)
	}
	quiet()
	targets, err := core.OpenCore(path, executable, nil)
	if err != nil {
		return nil, fmt.Errorf("core dump of %s: %w", executable, err)
	}
	h := &coreHalter{targets.Selected}
	entry, err := h.entryPoint()
	if err != nil {
		return nil, fmt.Errorf("core dump of %s: %w", executable, err)
	}
	a := newBackend(&sampler.Process{PID: targets.Selected.Pid(), Name: info.Path}, h)
	if err := a.prepare(&Binary{path: executable, entry: entry, bi: targets.Selected.BinInfo(),
		info: info}); err != nil {
		return nil, fmt.Errorf("core dump: %w: is %s the program that wrote it, and has the dump all memory (of a minidump: MiniDumpWithFullMemory)?", lacks.explain(err), executable)
	}
	defer a.Close()
	a.header.Sampler.Backend = sampledata.FromDump
	if written, err := os.Stat(path); err == nil {
		a.header.Start = written.ModTime()
	}
	program, err := os.Open(executable)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	if r, err = a.only(program, entry); err == nil && lacks.atEnd > 0 {
		r.Warnings = append(r.Warnings, sampledata.Warning{
			Kind: sampledata.CutFile,
			Message: fmt.Sprintf("%d bytes of the program's memory are missing at its end",
				lacks.atEnd), Count: 1,
		})
	}
	return r, lacks.explain(err)
}

// only returns a recording of one sample of a target that never
// continues. Its program's entry point is at an address.
func (a *Backend) only(program *os.File, entry uint64) (*sampledata.Recording, error) {
	b := sampledata.NewBuilder(a.header)
	var err error
	if a.header.OS != "linux" {
		b.Warn("no-holders",
			"who holds locks, and how they are called, is not known: cpprof finds that out only in core dumps of Linux", 1)
	} else if a.locks, err = newCoreLocks(a, program, entry); err != nil {
		b.Warn("no-holders",
			fmt.Sprintf("who holds locks, and how they are called, is not known: %v", err), 1)
	}
	if _, err := a.Observe(context.Background(), onlySample{b}, sampledata.Sample{}); err != nil {
		return nil, err
	}
	if len(a.known) == 0 {
		return nil, errors.New("core dump: it has no goroutines")
	}
	if a.locks != nil {
		a.locks.names(program)
	}
	if err := b.Finish(sampledata.End{}); err != nil {
		return nil, err
	}
	return b.Recording(), nil
}

// An onlySample is a sink for a sample that has no time.
type onlySample struct{ *sampledata.Builder }

func (s onlySample) Sample(sample sampledata.Sample, changes []sampledata.Change) error {
	sample.Time, sample.Halt = 0, 0
	return s.Builder.Sample(sample, changes)
}

// A coreHalter reads a target that is halted for ever.
type coreHalter struct{ target *proc.Target }

func (h *coreHalter) during(f func([]thread) error) (time.Duration, error) {
	threads, err := threadsOf(h.target.ThreadList())
	if err != nil {
		return 0, err
	}
	slices.SortFunc(threads, func(a, b thread) int { return a.id - b.id })
	return 0, f(threads)
}

func (h *coreHalter) ReadRanges(rs []copied.Range) (failed int) {
	return readRanges(h.target.Memory(), rs)
}

func (h *coreHalter) entryPoint() (uint64, error) { return h.target.EntryPoint() }

func (h *coreHalter) close() error { return nil }

// readRanges copies memory that Delve reads.
func readRanges(mem proc.MemoryReader, rs []copied.Range) (failed int) {
	for i := range rs {
		n, err := mem.ReadMemory(rs[i].Buf, rs[i].Addr)
		if err != nil {
			rs[i].Buf = rs[i].Buf[:max(0, min(n, len(rs[i].Buf)-1))]
			failed++
		}
	}
	return failed
}
