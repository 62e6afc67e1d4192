package layout

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// small is a table with two layouts of g; other structs have
// what check asks for.
func small(t *testing.T) *Table {
	t.Helper()
	table := NewTable()
	add := func(r goruntime.Release, goid Offset) {
		l := fixture.Must(ForVersion("go1.26.8", "amd64"))(t)
		l.G.Goid = goid
		table.Add(r, "amd64", l)
	}
	add(goruntime.Release{Line: 23, Patch: 0}, 152)
	add(goruntime.Release{Line: 23, Patch: 2}, 152)
	add(goruntime.Release{Line: 23, Patch: 5}, 160)
	add(goruntime.Release{Line: 25, Patch: 0}, 168)
	return table
}

func TestLookup(t *testing.T) {
	table := small(t)
	for _, c := range []struct {
		version string
		goid    Offset
		source  Source
		release string
	}{
		{"go1.23.0", 152, FromTable, "go1.23.0"},
		{"go1.23.1", 152, Guessed, "go1.23.0"},         // between two of its line
		{"go1.23.5", 160, FromTable, "go1.23.5"},       //
		{"go1.23.9", 160, Guessed, "go1.23.5"},         // after the last of its line
		{"go1.22.3", 152, Guessed, "go1.23.0"},         // before all
		{"go1.24.1", 160, Guessed, "go1.23.5"},         // no release of its line
		{"go1.25.0 X:foo", 168, Guessed, "go1.25.0"},   // an experiment
		{"devel go1.27-abc", 168, Guessed, "go1.25.0"}, // after all
	} {
		l, err := table.Lookup(c.version, "amd64")
		if err != nil {
			t.Errorf("%s: %v", c.version, err)
			continue
		}
		if l.G.Goid != c.goid || l.Source != c.source || l.Release != c.release {
			t.Errorf("%s: got %d, %v, %s; want %d, %v, %s", c.version, l.G.Goid, l.Source, l.Release, c.goid, c.source, c.release)
		}
	}
	if _, err := table.Lookup("go1.23.0", "riscv64"); err == nil {
		t.Error("unknown processor: no error")
	}
}

// TestGenerated makes sure that the table is as the generator writes it.
func TestGenerated(t *testing.T) {
	table := fixture.Must(ReadTable(bytes.NewReader(embedded)))(t)
	var b bytes.Buffer
	fixture.Check(t, table.Write(&b))
	if !bytes.Equal(b.Bytes(), embedded) {
		t.Error("layouts.json was not written by the generator")
	}
}

// A table that was read from a text is written as the same text,
// in whatever order the releases are added.
func TestTableTextIsIdentity(t *testing.T) {
	var first, second bytes.Buffer
	fixture.Check(t, small(t).Write(&first))
	again := fixture.Must(ReadTable(bytes.NewReader(first.Bytes())))(t)
	readded := fixture.Must(again.Lookup("go1.23.0", "amd64"))(t)
	again.Add(goruntime.Release{Line: 23, Patch: 0}, "amd64", readded)
	fixture.Check(t, again.Write(&second))
	if first.String() != second.String() {
		t.Errorf("got\n%s\nwant\n%s", second.String(), first.String())
	}
}

func TestReadTableRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "EOF",
		`{"Structs": {"g": [{"goid": "x"}]}}`:    "cannot unmarshal",
		`{"Structs": {"g": [{"goid": 1e10}]}}`:   "cannot unmarshal",
		`{"Releases": [{"Structs": {"g": 0}}]}`:  "no layout 0 of g",
		`{"Releases": [{"Structs": {"g": -1}}]}`: "no layout -1 of g",
	} {
		if _, err := ReadTable(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

// TestBuiltin checks that the table has every release of each
// line of Go up to the newest, and that each is usable.
func TestBuiltin(t *testing.T) {
	table := fixture.Must(builtin())(t)
	for _, arch := range []string{"amd64", "arm64"} {
		next := goruntime.Release{Line: goruntime.OldestLine}
		for _, r := range table.Releases(arch) {
			if r.Line == next.Line+1 {
				next = goruntime.Release{Line: r.Line}
			}
			if r != next {
				t.Fatalf("%s: %v where %v is expected", arch, r, next)
			}
			next.Patch++
			l, err := ForVersion(r.String(), arch)
			if err != nil || l.Source != FromTable || l.Release != r.String() {
				t.Errorf("%s %v: %v, %v", arch, r, l, err)
			}
		}
		if next.Line != goruntime.NewestLine {
			t.Errorf("%s: the newest release is one of Go 1.%d, not of Go 1.%d", arch, next.Line, goruntime.NewestLine)
		}
	}
}

// TestKnownOffsets pins what a debugger shows for the structs of two releases.
func TestKnownOffsets(t *testing.T) {
	for _, c := range []struct {
		version             string
		g, goid, status, sp Offset
		procid, curg        Offset
	}{
		{"go1.21.13", 408, 152, 144, 56, 72, 192},
		{"go1.23.12", 432, 160, 152, 56, 72, 192},
		{"go1.26.0", 456, 152, 144, 56, 64, 184},
	} {
		l := fixture.Must(ForVersion(c.version, "amd64"))(t)
		if l.G.Size != c.g || l.G.Goid != c.goid || l.G.AtomicStatus != c.status || l.G.SchedSP != c.sp ||
			l.M.ProcID != c.procid || l.M.CurG != c.curg {
			t.Errorf("%s: got %+v, %+v", c.version, l.G, l.M)
		}
	}
}

// FuzzReadTable reads damaged tables and looks releases up in
// those that are accepted.
func FuzzReadTable(f *testing.F) {
	f.Add(`{"Structs": {"g": [{"-": 456, "goid": 152}]}, "Releases": [{"Arch": "amd64", "Line": 26, "Patches": [8], "Structs": {"g": 0}}]}`, "go1.26.9")
	f.Add("{}", "")
	f.Fuzz(func(t *testing.T, text, version string) {
		table, err := ReadTable(strings.NewReader(text))
		if err != nil {
			return
		}
		table.Lookup(version, "amd64")
	})
}

func TestOrigin(t *testing.T) {
	for version, want := range map[string]string{
		"go1.23.5":       "the known layout of go1.23.5",
		"go1.24-abcdef0": "the layout of go1.24.0, the nearest release that is known",
	} {
		l, err := ForVersion(version, "amd64")
		if err != nil || l.Origin() != want {
			t.Errorf("%s: got %q, %v; want %q", version, l.Origin(), err, want)
		}
	}
}

// A release that lacks a field gets it from its neighbours, if
// they agree with each other and with it.
func TestFillBetween(t *testing.T) {
	table := small(t)
	for _, patch := range []int{1, 3, 9} {
		table.set("amd64", goruntime.Release{Line: 23, Patch: patch}, structs{"g": {"goid": 152}})
	}
	table.set("amd64", goruntime.Release{Line: 23, Patch: 2}, table.releases["amd64"][goruntime.Release{Line: 23, Patch: 0}])
	table.FillBetween()
	for patch, want := range map[int]bool{
		1: true,
		3: false, // 23.2 and 23.5 differ
		9: false, // there is none after it
	} {
		got := table.releases["amd64"][goruntime.Release{Line: 23, Patch: patch}]["g"]
		if full := len(got) > 1; full != want || got["goid"] != 152 {
			t.Errorf("go1.23.%d: %v", patch, got)
		}
	}
}

// The table has the statistics of every release.
func TestStatistics(t *testing.T) {
	table := fixture.Must(builtin())(t)
	for _, arch := range []string{"amd64", "arm64"} {
		for _, r := range table.Releases(arch) {
			if l, err := ForVersion(r.String(), arch); err != nil || !l.HasStatistics() {
				t.Errorf("%v on %s: no statistics, %v", r, arch, err)
			}
		}
	}
}

// The table has the heap of every release.
func TestHeap(t *testing.T) {
	table := fixture.Must(builtin())(t)
	for _, arch := range []string{"amd64", "arm64"} {
		for _, r := range table.Releases(arch) {
			l, err := ForVersion(r.String(), arch)
			if err != nil || !l.HasHeap() {
				t.Errorf("%v on %s: no heap, %v", r, arch, err)
			} else if l.Cleanups.All.Has() != (r.Line >= 25) {
				t.Errorf("%v on %s: cleanups at %d", r, arch, l.Cleanups.All)
			}
		}
	}
}
