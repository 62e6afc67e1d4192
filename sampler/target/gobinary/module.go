package gobinary

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A module has the fields of runtime.firstmoduledata that are
// needed, at link addresses.
type module struct {
	addr         uint64
	pclntab      uint64
	text, etext  uint64
	gofunc       uint64
	textSections uint64 // if more than one, code addresses are not linear

	tabledata, gofuncdata []byte // the bytes at pclntab and gofunc
}

// findModule finds moduledata and the tables that it refers to.
func findModule(im *image, l *layout.Module) (*module, error) {
	var tried []error
	for _, at := range tableCandidates(im) {
		m, err := moduleOf(im, l, at)
		if err == nil {
			return m, nil
		}
		tried = append(tried, fmt.Errorf("pclntab at %#x: %w", at, err))
	}
	if len(tried) == 0 {
		return nil, errors.New("no pclntab: not a Go program, or linked before Go 1.20")
	}
	return nil, fmt.Errorf("no moduledata: %w", errors.Join(tried...))
}

// tableCandidates returns the addresses at which a pclntab may
// be: in its section, else wherever the bytes of a segment look
// like one (external linkers may merge the section into another,
// and some tools remove all sections).
func tableCandidates(im *image) []uint64 {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := im.elf.Section(name); s != nil {
			return []uint64{s.Addr}
		}
	}
	var at []uint64
	for _, p := range im.elf.Progs {
		if p.Flags&elf.PF_X == 0 {
			at = appendWords(at, p, pclntab.IsHeader)
		}
	}
	return at
}

// appendWords appends the addresses of the words of a loaded
// segment that are wanted. wanted gets the bytes from a word on.
func appendWords(at []uint64, p *elf.Prog, wanted func([]byte) bool) []uint64 {
	if p.Type != elf.PT_LOAD || p.Filesz > maxPart {
		return at
	}
	b, err := readFull(p, 0, p.Filesz)
	if err != nil {
		return at
	}
	for i := 0; i+8 <= len(b); i += 8 {
		if wanted(b[i:]) {
			at = append(at, p.Vaddr+uint64(i))
		}
	}
	return at
}

// moduleOf reads the moduledata that refers to the table at a
// link address.
func moduleOf(im *image, l *layout.Module, table uint64) (*module, error) {
	header, err := im.bytes(table, 8+8*8)
	if err != nil {
		return nil, err
	}
	for _, at := range moduleCandidates(im, table) {
		b, err := im.bytes(at, uint64(l.Size))
		if err != nil {
			continue
		}
		word := func(off layout.Offset) uint64 {
			if int(off)+8 > len(b) {
				return 0
			}
			return binary.LittleEndian.Uint64(b[off:])
		}
		// The slice of function names begins at the address in
		// the table's header.
		if word(l.PCHeader) != table ||
			word(l.PCHeader+8) != table+binary.LittleEndian.Uint64(header[32:]) {
			continue
		}
		m := &module{addr: at, pclntab: table, text: word(l.Text), etext: word(l.EText),
			gofunc:       word(l.GoFunc),
			textSections: word(l.TextMap + 8)}
		return m, m.read(im)
	}
	return nil, errors.New("nothing points to it as moduledata does")
}

// read reads the tables.
func (m *module) read(im *image) error {
	if m.textSections > 1 {
		return fmt.Errorf("the code is in %d sections: programs of that size are not supported on this processor", m.textSections)
	}
	var err error
	if m.tabledata, err = im.tail(m.pclntab); err != nil {
		return err
	}
	if m.gofuncdata, err = im.tail(m.gofunc); err != nil {
		return fmt.Errorf("inline trees: %w", err)
	}
	return nil
}

// moduleCandidates returns the addresses at which moduledata may
// be: the section that it has since Go 1.26, and every word of
// the data that has the table's address.
func moduleCandidates(im *image, table uint64) []uint64 {
	var at []uint64
	if s := im.elf.Section(".go.module"); s != nil {
		at = append(at, s.Addr)
	}
	for _, r := range im.relocs {
		if r.value == table {
			at = append(at, r.addr)
		}
	}
	for _, p := range im.elf.Progs {
		if p.Flags&elf.PF_W != 0 && len(at) == 0 {
			at = appendWords(at, p,
				func(b []byte) bool { return binary.LittleEndian.Uint64(b) == table })
		}
	}
	return at
}
