//go:build linux && (amd64 || arm64)

package probe

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The maps of the kernel's program:
//
//	sites   address → number of the site
//	counts  number of the site → hits; number 0 counts the records that were lost
//	ring    records
const (
	maxSites  = 4096
	ringBytes = 4 << 20
)

// The words of a record; the registers follow.
const (
	wordTime = iota
	wordPC
	wordGoroutine
	wordG
	wordStackEnd
	wordSP
	wordCaller
	wordLost
	wordRegisters
)

// A processor says where the registers are in the kernel's
// record of a thread that hit an instrument (pt_regs), in bytes.
type processor struct {
	pc, sp, g int16
	// the register that holds the return address at an entry; -1
	// if it is on the stack
	link     int16
	integers []int16 // those that pass integers, in the order of Go's internal ABI
}

var processors = map[string]processor{
	"amd64": {pc: 128, sp: 152, g: 8, link: -1,
		integers: []int16{80, 40, 88, 112, 104, 72, 64, 56, 48}},
	"arm64": {pc: 256, sp: 248, g: 224, link: 240,
		integers: []int16{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120}},
}

// gStackEnd is where a g has the upper end of its stack: the
// second word of its first field, in every release of Go.
const gStackEnd = 8

// words returns the length of a record in words.
func (p *processor) words() int { return wordRegisters + len(p.integers) }

// instructions returns the program that the kernel runs at each
// hit: it counts the hit, and writes a record.
func (p *processor) instructions(sites, counts, ring *ebpf.Map, goid int32) asm.Instructions {
	const context, record = asm.R6, asm.R7
	word := func(n int) int16 { return int16(8 * n) }
	ins := asm.Instructions{
		asm.Mov.Reg(context, asm.R1),
		asm.LoadMem(asm.R1, context, p.pc, asm.DWord),
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, sites.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		// counts[site]++
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.Word),
	}
	ins = append(ins, increment(counts)...)
	ins = append(ins,
		asm.LoadMapPtr(asm.R1, ring.FD()),
		asm.Mov.Imm(asm.R2, int32(8*p.words())),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JNE.Imm(asm.R0, 0, "room"),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, -8, asm.R1, asm.Word),
	)
	ins = append(ins, increment(counts)...)
	ins = append(ins, asm.Ja.Label("end"), asm.Mov.Reg(record, asm.R0).WithSymbol("room"))
	keep := func(from int16, to int) {
		ins = append(ins, asm.LoadMem(asm.R1, context, from, asm.DWord),
			asm.StoreMem(record, word(to), asm.R1, asm.DWord))
	}
	read := func(to int, base int16, offset int32) { // of the target's memory
		ins = append(ins, asm.Mov.Reg(asm.R1, record), asm.Add.Imm(asm.R1, int32(word(to))),
			asm.Mov.Imm(asm.R2, 8),
			asm.LoadMem(asm.R3, context, base, asm.DWord), asm.Add.Imm(asm.R3, offset),
			asm.FnProbeReadUser.Call())
	}
	keep(p.pc, wordPC)
	keep(p.g, wordG)
	keep(p.sp, wordSP)
	for i, r := range p.integers {
		keep(r, wordRegisters+i)
	}
	read(wordGoroutine, p.g, goid)
	read(wordStackEnd, p.g, gStackEnd)
	if p.link >= 0 {
		keep(p.link, wordCaller)
	} else {
		read(wordCaller, p.sp, 0)
	}
	// What was lost so far.
	ins = append(ins,
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, -8, asm.R1, asm.Word),
		asm.StoreMem(record, word(wordLost), asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, counts.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "time"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.StoreMem(record, word(wordLost), asm.R1, asm.DWord),
		asm.FnKtimeGetNs.Call().WithSymbol("time"),
		asm.StoreMem(record, word(wordTime), asm.R0, asm.DWord),
		asm.Mov.Reg(asm.R1, record),
		asm.Mov.Imm(asm.R2, 1), // nobody waits to be woken
		asm.FnRingbufSubmit.Call(),
	)
	return append(ins, asm.Mov.Imm(asm.R0, 0).WithSymbol("end"), asm.Return())
}

// increment adds 1 to the element of an array whose number is on
// the stack.
func increment(counts *ebpf.Map) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, counts.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -8),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
	}
}

// A kernelProgram is the program in the kernel, with its maps.
type kernelProgram struct {
	sites, counts, ring *ebpf.Map
	program             *ebpf.Program
}

// load passes the program to the kernel. goid is where a g has
// its number. A linked program is for links, others are for
// events.
func load(p *processor, goid int32, linked bool) (k *kernelProgram, err error) {
	k = &kernelProgram{}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	if k.sites, err = ebpf.NewMap(&ebpf.MapSpec{Name: "cpprof_sites", Type: ebpf.Hash, KeySize: 8,
		ValueSize: 8, MaxEntries: maxSites}); err != nil {
		return k, err
	}
	const mappable = 1 << 10 // BPF_F_MMAPABLE
	if k.counts, err = ebpf.NewMap(&ebpf.MapSpec{Name: "cpprof_counts", Type: ebpf.Array,
		KeySize: 4, ValueSize: 8, MaxEntries: maxSites, Flags: mappable}); err != nil {
		return k, err
	}
	if k.ring, err = ebpf.NewMap(&ebpf.MapSpec{Name: "cpprof_ring", Type: ebpf.RingBuf,
		MaxEntries: ringBytes}); err != nil {
		return k, err
	}
	spec := &ebpf.ProgramSpec{
		// the kernel lends its functions to such programs only
		Name: "cpprof_probe", Type: ebpf.Kprobe, License: "Dual MIT/GPL",
		Instructions: p.instructions(k.sites, k.counts, k.ring, goid),
	}
	if linked {
		spec.AttachType = ebpf.AttachTraceUprobeMulti
	}
	if k.program, err = ebpf.NewProgram(spec); err != nil {
		return k, fmt.Errorf("loading the kernel's program: %w", err)
	}
	return k, nil
}

// clear forgets all sites and counts.
func (k *kernelProgram) clear() error {
	var pc, zero uint64
	var known []uint64
	for it := k.sites.Iterate(); it.Next(&pc, &zero); {
		known = append(known, pc)
	}
	for _, pc := range known {
		if err := k.sites.Delete(pc); err != nil {
			return err
		}
	}
	for n := range uint32(len(known) + 1) {
		if err := k.counts.Put(n, uint64(0)); err != nil {
			return err
		}
	}
	return nil
}

func (k *kernelProgram) close() {
	for _, m := range []*ebpf.Map{k.sites, k.counts, k.ring} {
		m.Close()
	}
	k.program.Close()
}
