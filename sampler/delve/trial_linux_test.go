package delve

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Executables that would fill the memory, end the program or
// lead to other files are refused, whatever Delve does with
// them.
func TestHostileExecutables(t *testing.T) {
	// The header of a table of lines, with n folders that take no bytes.
	lines := func(n uint64) []byte {
		head := []byte{100, 0, 0, 0, 5, 0, 8, 0, 100, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1, 0}
		return append(binary.AppendUvarint(head, n), make([]byte, 100)...)
	}
	link := func(to string) fixture.Section {
		text := append([]byte(to), make([]byte, 8-len(to)%4)...) // with its checksum
		return fixture.Section{Name: ".gnu_debuglink", Content: text}
	}
	good := fixture.Build(t, "mutex")
	for what, c := range map[string]struct {
		sections map[string]fixture.Section
		want     string
	}{
		"2^38 folders":     {map[string]fixture.Section{".debug_line": {Content: lines(1 << 38)}}, "fatal error: runtime: out of memory"},
		"2^63 folders":     {map[string]fixture.Section{".debug_line": {Content: lines(1 << 63)}}, "panic: runtime error: makeslice"},
		"lines that end":   {map[string]fixture.Section{".debug_line": {Content: []byte{1, 2}}}, "panic: runtime error"},
		"no units, a link": {map[string]fixture.Section{".debug_info": {Content: []byte{1, 2}}, ".note.go.buildid": link("../pipe")}, "decoding dwarf section info"},
		"a link":           {map[string]fixture.Section{".note.go.buildid": link("../pipe")}, ""},
		"many long names":  {map[string]fixture.Section{".strtab": {Content: bytes.Repeat([]byte{'A'}, 8<<20)}}, "the names of section .symtab are much longer"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := fixture.Changed(t, good, c.sections)
			for _, folder := range []string{".", ".."} {
				fixture.Check(t, unix.Mkfifo(filepath.Join(filepath.Dir(path), folder, "pipe"), 0o600))
			}
			if _, err := Load(path); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			} else {
				t.Log(err)
			}
		})
	}
}
