package layout

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

//go:generate go run ./gen -missing -o layouts.json

//go:embed layouts.json
var embedded []byte

// builtin is the table in layouts.json.
var builtin = sync.OnceValues(func() (*Table, error) {
	return ReadTable(bytes.NewReader(embedded))
})

// ForVersion returns the layout of a Go version, in the form of
// build info, on a processor (GOARCH). For a version that the
// table doesn't have, it returns the nearest release's layout,
// marked Guessed.
func ForVersion(goVersion, arch string) (*Layout, error) {
	t, err := builtin()
	if err != nil {
		return nil, err
	}
	return t.Lookup(goVersion, arch)
}

// A Table holds layouts by release and processor.
type Table struct {
	releases map[string]map[goruntime.Release]structs // by processor
}

// structs are the offsets of a release's structs by name and
// field, with the names that `rt` tags have.
type structs map[string]map[string]Offset

// NewTable returns a table without releases.
func NewTable() *Table { return &Table{releases: map[string]map[goruntime.Release]structs{}} }

// A tableText is the text form of a table, which the generator
// writes as JSON.
type tableText struct {
	Structs  map[string][]map[string]Offset // the different layouts of each struct
	Releases []releasesText
}

// A releasesText has releases of one line of Go with the same layouts.
type releasesText struct {
	Arch    string
	Line    int
	Patches []int
	Structs map[string]int // which of the layouts
}

// ReadTable reads the text form.
func ReadTable(r io.Reader) (*Table, error) {
	var text tableText
	if err := json.NewDecoder(r).Decode(&text); err != nil {
		return nil, fmt.Errorf("reading layouts: %w", err)
	}
	t := NewTable()
	for _, one := range text.Releases {
		s := structs{}
		for name, n := range one.Structs {
			if n < 0 || n >= len(text.Structs[name]) {
				return nil, fmt.Errorf("reading layouts: no layout %d of %s", n, name)
			}
			s[name] = text.Structs[name][n]
		}
		for _, patch := range one.Patches {
			t.set(one.Arch, goruntime.Release{Line: one.Line, Patch: patch}, s)
		}
	}
	return t, nil
}

func (t *Table) set(arch string, r goruntime.Release, s structs) {
	if t.releases[arch] == nil {
		t.releases[arch] = map[goruntime.Release]structs{}
	}
	t.releases[arch][r] = s
}

// Add adds a release's layout to the table.
func (t *Table) Add(r goruntime.Release, arch string, l *Layout) {
	s := structs{}
	l.eachStruct(func(name string, fields []field) {
		values := map[string]Offset{}
		for _, f := range fields {
			if f.offset.Has() {
				values[f.name] = *f.offset
			}
		}
		if len(values) > 0 {
			s[name] = values
		}
	})
	t.set(arch, r, s)
}

// Prune removes the fields that a Layout does not have from the table.
func (t *Table) Prune() {
	for arch, releases := range t.releases {
		for r, s := range releases {
			t.Add(r, arch, fill(s))
		}
	}
}

// FillBetween completes structs of releases that were read when
// this package knew fewer fields. If the nearest releases of the
// same line of Go before and after such a release have one
// layout of the struct, and the release agrees in what is known
// of it, it has that layout, too.
func (t *Table) FillBetween() {
	for arch, releases := range t.releases {
		all := t.Releases(arch)
		// by struct: the greatest number of fields that a
		// release of the line has
		full := map[string]int{}
		for i, r := range all {
			if i == 0 || all[i-1].Line != r.Line {
				clear(full)
				for _, o := range all {
					if o.Line == r.Line {
						for name, fields := range releases[o] {
							full[name] = max(full[name], len(fields))
						}
					}
				}
			}
			for name, n := range full {
				if len(releases[r][name]) < n {
					t.fillBetween(arch, all, i, name, n)
				}
			}
		}
	}
}

// fillBetween completes a struct of the i-th release, if the
// nearest releases that have all n fields agree.
func (t *Table) fillBetween(arch string, all []goruntime.Release, i int, name string, n int) {
	nearest := func(step int) map[string]Offset {
		for k := i + step; k >= 0 && k < len(all) && all[k].Line == all[i].Line; k += step {
			if s := t.releases[arch][all[k]][name]; len(s) == n {
				return s
			}
		}
		return nil
	}
	before, after := nearest(-1), nearest(1)
	if before == nil || !maps.Equal(before, after) {
		return
	}
	own := t.releases[arch][all[i]]
	for field, at := range own[name] {
		if before[field] != at {
			return
		}
	}
	own = maps.Clone(own)
	own[name] = before
	t.releases[arch][all[i]] = own
}

// Has reports whether the table has a release itself.
func (t *Table) Has(r goruntime.Release, arch string) bool {
	_, ok := t.releases[arch][r]
	return ok
}

// Write writes the text form. It depends only on the content,
// not on the order in which it was added.
func (t *Table) Write(w io.Writer) error {
	text := tableText{Structs: map[string][]map[string]Offset{}}
	for _, arch := range slices.Sorted(maps.Keys(t.releases)) {
		var last *releasesText
		for _, r := range t.Releases(arch) {
			numbers := map[string]int{}
			for name, fields := range t.releases[arch][r] {
				numbers[name] = text.number(name, fields)
			}
			if last == nil || last.Line != r.Line || !maps.Equal(last.Structs, numbers) {
				text.Releases = append(text.Releases,
					releasesText{Arch: arch, Line: r.Line, Structs: numbers})
				last = &text.Releases[len(text.Releases)-1]
			}
			last.Patches = append(last.Patches, r.Patch)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(text)
}

// number returns the number of a struct's layout; a new layout
// gets a new number.
func (t *tableText) number(name string, fields map[string]Offset) int {
	i := slices.IndexFunc(t.Structs[name],
		func(known map[string]Offset) bool { return maps.Equal(known, fields) })
	if i < 0 {
		i = len(t.Structs[name])
		t.Structs[name] = append(t.Structs[name], fields)
	}
	return i
}

// Releases lists the releases that the table has for a
// processor, oldest first.
func (t *Table) Releases(arch string) []goruntime.Release {
	return slices.SortedFunc(maps.Keys(t.releases[arch]), goruntime.Release.Compare)
}

// Lookup is ForVersion in this table.
func (t *Table) Lookup(goVersion, arch string) (*Layout, error) {
	r, exact, err := goruntime.ParseRelease(goVersion)
	if err != nil {
		return nil, fmt.Errorf("finding the layout of the Go runtime: %w", err)
	}
	all := t.Releases(arch)
	if len(all) == 0 {
		return nil, fmt.Errorf("finding the layout of the Go runtime: nothing known of processor %q", arch)
	}
	i, found := slices.BinarySearchFunc(all, r, goruntime.Release.Compare)
	var nearest goruntime.Release
	switch {
	case found:
		nearest = all[i]
	case i > 0 && (i == len(all) || all[i-1].Line == r.Line || all[i].Line != r.Line):
		nearest = all[i-1]
	default:
		nearest = all[i]
	}
	l := fill(t.releases[arch][nearest])
	l.Source, l.Release = FromTable, nearest.String()
	if !exact || !found {
		l.Source = Guessed
	}
	return l, l.check()
}
