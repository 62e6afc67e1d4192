package lockname

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// isVariable reports whether a package's variable lies at a link address. It
// decides by the section that contains the address.
func isVariable(f *elf.File, addr uint64) bool {
	for _, name := range []string{".data", ".noptrdata", ".bss", ".noptrbss"} {
		if s := f.Section(name); s != nil && addr >= s.Addr && addr-s.Addr < s.Size {
			return true
		}
	}
	return false
}

// global returns the name of the lock at a link address in a package's variable.
func (n *Namer) global(addr uint64) string {
	if n.symbols == nil {
		n.symbols, _ = n.elf.Symbols()
	}
	for _, s := range n.symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_OBJECT || addr < s.Value || addr-s.Value >= s.Size {
			continue
		}
		offset := int64(addr - s.Value)
		if t := n.typeOfGlobal(s.Name); t != nil {
			if p, _, ok := pathTo(t, offset, isLock); ok {
				return s.Name + p.whole
			}
		}
		if offset == 0 {
			return s.Name
		}
		return fmt.Sprintf("%s+%d", s.Name, offset)
	}
	return ""
}

// typeOfGlobal returns the type of a package's variable; nil if the debug
// information does not have it.
func (n *Namer) typeOfGlobal(name string) dwarf.Type {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if n.debug == nil || dot < 0 {
		return nil
	}
	for _, v := range n.globalsOf(strings.ReplaceAll(name[:slash+dot], "%2e", ".")) {
		if v.name == name {
			return v.typ
		}
	}
	return nil
}

// A globalVariable is a variable of a package.
type globalVariable struct {
	name string // "main.server"
	addr uint64 // as linked
	typ  dwarf.Type
}

// globalsOf lists the variables of a package, once.
func (n *Namer) globalsOf(pkg string) []globalVariable {
	if all, ok := n.globals[pkg]; ok {
		return all
	}
	var all []globalVariable
	for _, u := range n.debug.units {
		if u.name != pkg {
			continue
		}
		n.debug.children(u.entry.Offset, func(_ *dwarf.Reader, e *dwarf.Entry) {
			const opAddr = 0x03 // DW_OP_addr
			location, _ := e.Val(dwarf.AttrLocation).([]byte)
			at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if e.Tag != dwarf.TagVariable || !ok || len(location) != 9 || location[0] != opAddr {
				return
			}
			if t, err := n.debug.data.Type(at); err == nil {
				name, _ := e.Val(dwarf.AttrName).(string)
				all = append(all, globalVariable{name, binary.LittleEndian.Uint64(location[1:]), t})
			}
		})
	}
	n.globals[pkg] = all
	return all
}
