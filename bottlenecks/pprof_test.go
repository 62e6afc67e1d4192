package bottlenecks

import (
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/synthetic"
)

// writePprof writes a tree's stacks as a profile for go tool pprof: as little as it takes to read it.
func writePprof(b testing.TB, t *calltree.Tree) string {
	path := filepath.Join(b.TempDir(), "tree.pb.gz")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if _, err := z.Write(encodePprof(t)); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// encodePprof numbers fields as pprof's profile.proto does. Functions and locations have the numbers of the tree's
// frames, from 1.
func encodePprof(t *calltree.Tree) []byte {
	var out []byte
	number := func(to []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
	}
	message := func(field protowire.Number, m []byte) {
		out = protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), m)
	}
	syms := t.Symbols()
	text := []string{"", "samples", "count"}
	message(1, number(number(nil, 1, 1), 2, 2)) // the type of the samples
	for n, own := range t.Main().Planes()[0].Own {
		if own == 0 {
			continue
		}
		var stack []byte // from the leaf
		for m := int32(n); m >= 0; m = t.Parents()[m] {
			stack = protowire.AppendVarint(stack, uint64(t.Funcs()[m])+1)
		}
		sample := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), stack)
		sample = protowire.AppendBytes(protowire.AppendTag(sample, 2, protowire.BytesType), protowire.AppendVarint(nil, uint64(own)))
		message(2, sample)
	}
	for f := range syms.Len() {
		id := uint64(f) + 1
		line := number(nil, 1, id)
		message(4, protowire.AppendBytes(protowire.AppendTag(number(nil, 1, id), 4, protowire.BytesType), line))
		message(5, number(number(nil, 1, id), 2, uint64(len(text))))
		text = append(text, syms.Name(calltree.Func(f)))
	}
	for _, s := range text {
		message(6, []byte(s))
	}
	return out
}

// pprofTool gives the go command, or skips where it has no pprof.
func pprofTool(b testing.TB) string {
	tool, err := exec.LookPath("go")
	if err != nil || exec.Command(tool, "tool", "-n", "pprof").Run() != nil {
		b.Skip("no go tool pprof here")
	}
	return tool
}

// BenchmarkGoToolPprof reads and reports the tree of the other benchmarks, as a yardstick: its figures include the start of
// the program and reading the file.
func BenchmarkGoToolPprof(b *testing.B) {
	tool := pprofTool(b)
	profile := writePprof(b, largeTree())
	for _, report := range []string{"-top", "-peek=."} {
		b.Run(report, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(tool, "tool", "pprof", report, profile).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out[:min(len(out), 1000)])
				}
			}
		})
	}
}

// What pprof calls flat and cum are the base and cum of single names.
func TestPprofAgrees(t *testing.T) {
	tool := pprofTool(t)
	tree := synthetic.Tree(3000, 50)
	cmd := exec.Command(tool, "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", writePprof(t, tree))
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p := NewSingle(tree)
	compared := 0
	for line := range strings.Lines(string(out)) {
		columns := strings.Fields(line) // flat flat% sum% cum cum% name
		if len(columns) != 6 || !strings.HasSuffix(columns[1], "%") {
			continue
		}
		s := p.Summary(columns[5])
		if columns[0] != s.Base().RatString() || columns[3] != s.Cum().RatString() {
			t.Errorf("base %v, cum %v; pprof says: %s", s.Base(), s.Cum(), line)
		}
		compared++
	}
	if compared != len(p.Initial()) {
		t.Errorf("%d names compared, of %d:\n%s", compared, len(p.Initial()), out)
	}
}
