package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/cpprof/cpprof/internal/fixture"
)

// madeUp returns the debug information of a unit with entries
// that begin at offset 12.
func madeUp(t *testing.T, entries []byte) *Info {
	t.Helper()
	abbrev := []byte{
		1, byte(dwarf.TagCompileUnit), 1, 0, 0,
		2, byte(dwarf.TagTypedef), 0, byte(dwarf.AttrType), 0x13, 0, 0, // 0x13: 4 bytes, from the unit's begin
		3, byte(dwarf.TagConstType), 0, byte(dwarf.AttrType), 0x13, 0, 0,
		4, byte(dwarf.TagPointerType), 0, byte(dwarf.AttrType), 0x13, 0, 0,
		// of code from 0 to 127
		5, byte(dwarf.TagSubprogram), 1, byte(dwarf.AttrLowpc), 1, byte(dwarf.AttrHighpc), 0x0b, 0, 0,
		6, byte(dwarf.TagLexDwarfBlock), 1, byte(dwarf.AttrLowpc), 1, byte(dwarf.AttrHighpc), 0x0b, 0, 0,
		7, byte(dwarf.TagVariable), 0, byte(dwarf.AttrType), 0x13, 0, 0,
		8, byte(dwarf.TagLexDwarfBlock), 1, 0, 0,
		9, byte(dwarf.TagUnspecifiedType), 0, 0, 0,
		0,
	}
	info := append([]byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, entries...)
	binary.LittleEndian.PutUint32(info, uint32(len(info)-4))
	data := fixture.Must(dwarf.New(abbrev, nil, nil, info, nil, nil, nil, nil))(t)
	unit := fixture.Must(data.Reader().Next())(t)
	return &Info{Data: data, sound: map[dwarf.Offset]bool{}, types: map[dwarf.Offset]godwarf.Type{},
		Units: []*Unit{{entry: unit, ranges: [][2]uint64{{0, 128}}}}}
}

// Types and blocks that are nested hundreds of thousands of times are an error,
// or less is known. The stack of a goroutine would not suffice
// for them.
func TestNested(t *testing.T) {
	const deep = 300_000
	var types []byte
	for i := range uint32(deep) { // each points to the next one
		types = binary.LittleEndian.AppendUint32(append(types, 4), 12+5*(i+1))
	}
	types = append(types, 9, 0)
	if _, err := madeUp(t, types).Type(12); err == nil || !strings.Contains(err.Error(), "more than 200000 types") {
		t.Errorf("a chain of types: %v", err)
	}
	if _, err := madeUp(t, types).Type(12 + 5*(deep-maxTypes/2)); err != nil {
		t.Errorf("half as many types as may be: %v", err)
	}

	code := []byte{0, 0, 0, 0, 0, 0, 0, 0, 127} // from 0, of 127 bytes
	entries := append([]byte{5}, code...)
	entries = append(entries, bytes.Repeat(append([]byte{6}, code...), 10*deep)...)
	entries = append(entries, make([]byte, 10*deep+2)...) // the ends
	if vars := madeUp(t, entries).VariablesAt(1); len(vars) > 0 {
		t.Errorf("%d variables", len(vars))
	}
}

// Types that stand for themselves or for one another are an
// error, also the second time that somebody asks. Package
// debug/dwarf and Delve would overflow the stack.
func TestCircles(t *testing.T) {
	for what, entries := range map[string][]byte{
		"a typedef of itself":      {2, 12, 0, 0, 0},
		"two typedefs":             {2, 17, 0, 0, 0, 2, 12, 0, 0, 0},
		"const of itself":          {3, 12, 0, 0, 0},
		"a pointer to a circle":    {4, 17, 0, 0, 0, 2, 22, 0, 0, 0, 3, 17, 0, 0, 0},
		"a pointer to itself":      {4, 12, 0, 0, 0},
		"a typedef of its pointer": {2, 17, 0, 0, 0, 4, 12, 0, 0, 0},
	} {
		d := madeUp(t, append(entries, 0))
		for range 2 {
			_, err := d.Type(12)
			_, goErr := d.GoType(12)
			circle := !strings.Contains(what, "pointer") || strings.Contains(what, "circle")
			if circle != (err != nil) || circle != (goErr != nil) {
				t.Errorf("%s: %v, %v", what, err, goErr)
			}
		}
	}
}
