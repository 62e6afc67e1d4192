package hotspots

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views/calltree"
)

// writePprof writes a tree as a profile for go tool pprof.
func writePprof(b testing.TB, t *calltree.Tree) string {
	path := filepath.Join(b.TempDir(), "tree.pb.gz")
	f := fixture.Must(os.Create(path))(b)
	defer f.Close()
	r := fixture.Must(interchange.Profile(t))(b)
	fixture.Check(b, interchange.WritePprof(f, r))
	return path
}

// pprofTool returns the go command, or skips the test if it has no pprof.
func pprofTool(b testing.TB) string {
	tool, err := exec.LookPath("go")
	if err != nil || exec.Command(tool, "tool", "-n", "pprof").Run() != nil {
		b.Skip("go tool pprof is not installed")
	}
	return tool
}

// BenchmarkGoToolPprof reads and reports the tree of the other
// benchmarks, for comparison: its figures include starting the
// program and reading the file.
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

// The flat and cum values of pprof are the base and cum of single names.
func TestPprofAgrees(t *testing.T) {
	tool := pprofTool(t)
	tree := bigtree.New(3000, 50)
	cmd := exec.Command(tool, "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", writePprof(t, tree))
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out := fixture.Must(cmd.Output())(t)
	p := NewSingle(tree)
	compared := 0
	for line := range strings.Lines(string(out)) {
		columns := strings.Fields(line) // flat flat% sum% cum cum% name
		if len(columns) != 6 || !strings.HasSuffix(columns[1], "%") {
			continue
		}
		s := p.Summary(columns[5])
		flat, cum := strings.TrimSuffix(columns[0], "samples"), strings.TrimSuffix(columns[3], "samples")
		if flat != s.Base().RatString() || cum != s.Cum().RatString() {
			t.Errorf("base %v, cum %v; pprof says: %s", s.Base(), s.Cum(), line)
		}
		compared++
	}
	if compared != len(p.Initial())-1 { // pprof does not list the root
		t.Errorf("%d names compared, of %d:\n%s", compared, len(p.Initial()), out)
	}
}
