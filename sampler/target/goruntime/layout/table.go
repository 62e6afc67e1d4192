package layout

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

//go:generate go run ./gen -missing -o layouts.txt

//go:embed layouts.txt
var embedded []byte

// builtin is the table in layouts.txt.
var builtin = sync.OnceValues(func() (*Table, error) {
	return ReadTable(bytes.NewReader(embedded))
})

// ForVersion returns the layout of a Go version, in the form of build info,
// on a processor (GOARCH). For a version that the table doesn't have, it
// returns the nearest release's layout, marked Guessed.
func ForVersion(goVersion, arch string) (*Layout, error) {
	t, err := builtin()
	if err != nil {
		return nil, err
	}
	return t.Lookup(goVersion, arch)
}

// A Table holds layouts by release and processor. Its text form has two kinds
// of lines, which the generator writes:
//
//	struct g 2 -=424 stack.lo=0 stack.hi=8 ...
//	release amd64 go1.22.0,1,2 g=2 m=3 p=2 ...
//
// The first line is variant 2 of runtime.g with its size and offsets. The
// second line has the variants that go1.22.0, go1.22.1 and go1.22.2 use.
type Table struct {
	releases map[string]map[goruntime.Release]structs // by processor
}

// structs are the offsets of a release's structs by name and field, with the
// names that `rt` tags have.
type structs map[string]map[string]Offset

func (s structs) equal(o structs) bool {
	return maps.EqualFunc(s, o, maps.Equal[map[string]Offset])
}

// NewTable returns a table without releases.
func NewTable() *Table { return &Table{releases: map[string]map[goruntime.Release]structs{}} }

// ReadTable reads the text form.
func ReadTable(r io.Reader) (*Table, error) {
	t := NewTable()
	v := variants{}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		words := strings.Fields(sc.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := t.readLine(words, v); err != nil {
			return nil, fmt.Errorf("reading layouts: line %d: %w", n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading layouts: %w", err)
	}
	return t, nil
}

// readLine adds a line to the table, or to the variants of structs by name.
func (t *Table) readLine(words []string, v variants) error {
	if len(words) < 3 {
		return errors.New("too short")
	}
	values := map[string]Offset{}
	for _, w := range words[3:] {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Errorf("%q: want name=number", w)
		}
		values[name] = Offset(n)
	}
	switch words[0] {
	case "struct":
		if words[2] != strconv.Itoa(len(v[words[1]])+1) {
			return fmt.Errorf("variant %s of %s is out of order", words[2], words[1])
		}
		v[words[1]] = append(v[words[1]], values)
	case "release":
		s := structs{}
		for name, n := range values {
			if int(n) < 1 || int(n) > len(v[name]) {
				return fmt.Errorf("no variant %d of %s", n, name)
			}
			s[name] = v[name][n-1]
		}
		releases, err := parseReleases(words[2])
		if err != nil {
			return err
		}
		for _, r := range releases {
			t.set(words[1], r, s)
		}
	default:
		return fmt.Errorf("unknown kind of line %q", words[0])
	}
	return nil
}

// parseReleases reads releases of one line of Go: go1.22.0,1,2.
func parseReleases(s string) ([]goruntime.Release, error) {
	first, patches, more := strings.Cut(s, ",")
	r, exact, err := goruntime.ParseRelease(first)
	if err != nil || !exact {
		return nil, fmt.Errorf("%q is not a release of Go", first)
	}
	all := []goruntime.Release{r}
	for more {
		var patch string
		patch, patches, more = strings.Cut(patches, ",")
		n, err := strconv.ParseUint(patch, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%q is not a patch release of Go 1.%d", patch, r.Line)
		}
		all = append(all, goruntime.Release{Line: r.Line, Patch: int(n)})
	}
	return all, nil
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

// FillBetween completes structs of releases that were read when this package
// knew fewer fields. If the nearest releases of the same line of Go before
// and after such a release have one layout of the struct, and the release
// agrees in what is known of it, it has that layout, too.
func (t *Table) FillBetween() {
	for arch, releases := range t.releases {
		all := t.Releases(arch)
		// by struct: the greatest number of fields that a release of the
		// line has
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

// fillBetween completes a struct of the i-th release, if the nearest releases
// that have all n fields agree.
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

// variants are the different layouts of structs by name; a variant's number
// is its index + 1.
type variants map[string][]map[string]Offset

// number returns the number of a struct's layout; a new layout gets a new
// number.
func (v variants) number(name string, fields map[string]Offset) int {
	i := slices.IndexFunc(v[name],
		func(known map[string]Offset) bool { return maps.Equal(known, fields) })
	if i < 0 {
		i = len(v[name])
		v[name] = append(v[name], fields)
	}
	return i + 1
}

// WriteTo writes the text form. It depends only on the content, not on the
// order in which it was added.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	v := variants{}
	var releases, b bytes.Buffer
	for _, arch := range slices.Sorted(maps.Keys(t.releases)) {
		all := t.Releases(arch)
		for len(all) > 0 {
			s := t.releases[arch][all[0]]
			n := 1
			for n < len(all) && all[n].Line == all[0].Line && t.releases[arch][all[n]].equal(s) {
				n++
			}
			fmt.Fprintf(&releases, "release %s %v", arch, all[0])
			for _, r := range all[1:n] {
				fmt.Fprintf(&releases, ",%d", r.Patch)
			}
			for _, name := range slices.Sorted(maps.Keys(s)) {
				fmt.Fprintf(&releases, " %s=%d", name, v.number(name, s[name]))
			}
			releases.WriteByte('\n')
			all = all[n:]
		}
	}
	b.WriteString("# Generated by go generate from the DWARF of each release; see ../gen. Not to be edited.\n")
	for _, name := range slices.Sorted(maps.Keys(v)) {
		for i, fields := range v[name] {
			fmt.Fprintf(&b, "struct %s %d", name, i+1)
			for _, f := range slices.Sorted(maps.Keys(fields)) {
				fmt.Fprintf(&b, " %s=%d", f, fields[f])
			}
			b.WriteByte('\n')
		}
	}
	b.Write(releases.Bytes())
	return b.WriteTo(w)
}

// Releases lists the releases that the table has for a processor, oldest first.
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
