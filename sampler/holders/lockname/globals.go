package lockname

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/elffile"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// global returns the name of the lock at a link address in a
// package's variable.
func (n *Namer) global(addr uint64) string {
	if n.symbols == nil {
		n.symbols, _ = elffile.Symbols(n.elf)
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

// typeOfGlobal returns the type of a package's variable; nil if
// the debug information does not have it.
func (n *Namer) typeOfGlobal(name string) dwarf.Type {
	pkg := goruntime.Package(name)
	if n.debug == nil || pkg == name {
		return nil
	}
	for _, v := range n.debug.Globals(strings.ReplaceAll(pkg, "%2e", ".")) {
		if v.Name == name {
			t, _ := n.debug.Type(v.Type)
			return t
		}
	}
	return nil
}
