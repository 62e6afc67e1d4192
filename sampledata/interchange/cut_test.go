package interchange

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// undetectable reports whether a file that is cut there is
// whole, too: nothing of the format says that there must be
// more.
var undetectable = map[*Format]func(rest []byte) bool{
	// Each line counts for itself.
	&folded: func(rest []byte) bool { return bytes.HasSuffix(rest, []byte("\n")) },
	// So does each sample. After the first line of the first
	// one, there may be no stacks.
	&perfScript: func(rest []byte) bool {
		return bytes.HasSuffix(rest, []byte("\n\n")) || bytes.HasSuffix(rest, []byte(" cpu-clock:\n")) && bytes.Count(rest, []byte(":\n")) == 1
	},
	// So does each goroutine.
	&goroutineDump: func(rest []byte) bool {
		lines := strings.Split(string(rest), "\n")
		n := len(lines)
		return n >= 3 && lines[n-1] == "" && (lines[n-2] == "" ||
			strings.HasPrefix(lines[n-3], "created by ") || strings.HasPrefix(lines[n-3], "main.main("))
	},
	// So does each process or thread, and each call that returns to none.
	&arcflow: func(rest []byte) bool {
		return bytes.HasSuffix(rest, []byte("\n")) && bytes.Count(rest, []byte(">")) == bytes.Count(rest, []byte("<"))
	},
	// Nothing refers to the times and comments at the end of a
	// profile that is not compressed.
	&pprof: func(rest []byte) bool {
		last := protowire.Number(0)
		for len(rest) > 0 {
			number, _, n := protowire.ConsumeField(rest)
			if n < 0 {
				return false
			}
			last, rest = max(last, number), rest[n:]
		}
		return last >= stringField
	},
}

// A file that is cut anywhere is refused, or its recording says
// that it seems to be cut.
func TestCutFiles(t *testing.T) {
	for format, whole := range examples(t) {
		for name, data := range map[string][]byte{format.Name: whole, format.Name + " compressed": zipped(t, whole)} {
			t.Run(name, func(t *testing.T) {
				if said := cutsSaid(t, data, len(data)); !said.read || said.cut {
					t.Fatalf("the whole file: %+v", said)
				}
				silent := undetectable[format]
				step := max(1, len(data)/2000)
				for n := 1; n < len(data); n += step {
					said := cutsSaid(t, data, n)
					if !said.read || said.cut || len(data) == len(whole) && silent != nil && silent(data[:n]) {
						continue
					}
					t.Errorf("nothing is said of a file that is cut after byte %d of %d: %q", n, len(data), data[max(0, n-60):n])
				}
			})
		}
	}
}

// saidOf is what is said of a file.
type saidOf struct{ read, cut bool }

// cutsSaid reads the first bytes of a file.
func cutsSaid(t *testing.T, data []byte, n int) saidOf {
	t.Helper()
	in, err := Stream(bytes.NewReader(data[:n]), "x", Auto)
	if err != nil {
		return saidOf{}
	}
	r, err := in.Recording(Options{})
	if err != nil {
		return saidOf{}
	}
	return saidOf{read: true, cut: !r.Complete()}
}
