package variable

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/sampler/target/debuginfo"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// ErrNoDebugInfo reports that a program has no debug
// information, and says what can be had instead.
var ErrNoDebugInfo = errors.New("the program has no debug information: build it without -ldflags=-s and -w (go run and go test need -ldflags= too), " +
	"or let it publish its numbers by HTTP (expvar, Prometheus) and give the address: --monitor http://HOST:PORT/metrics")

// An Info is a program's debug information about the variables of packages.
type Info struct {
	debug *debuginfo.Info
	bias  uint64
}

// Open reads the debug information of an executable. Addresses
// in the process are the file's plus bias. Large programs take a
// second.
func Open(executable io.ReaderAt, bias uint64) (_ *Info, err error) {
	defer debuginfo.Damaged(&err)
	f, err := elffile.New(executable)
	if err != nil {
		return nil, err
	}
	debug, err := debuginfo.Read(f)
	if errors.Is(err, debuginfo.ErrNone) {
		return nil, ErrNoDebugInfo
	}
	return &Info{debug: debug, bias: bias}, err
}

// find finds the variable that a name begins with, and returns
// the names of fields that follow. The last part of a package's
// path may have dots: of gopkg.in/yaml.v3.size it is yaml.v3.
func (in *Info) find(e *Expr) (v debuginfo.Global, fields []string, err error) {
	slash := strings.LastIndexByte(e.name, '/') + 1
	parts := strings.Split(e.name[slash:], ".")
	pkg := ""
	for n := 1; n < len(parts); n++ {
		pkg = strings.ReplaceAll(e.name[:slash]+strings.Join(parts[:n], "."), "%2e", ".")
		name := e.name[:slash] + strings.ReplaceAll(pkg[slash:], ".", "%2e") + "." + parts[n]
		for _, v := range in.debug.Globals(pkg) {
			if v.Name == name {
				return v, parts[n+1:], nil
			}
		}
	}
	return v, nil, in.unknown(e, e.name[:slash]+parts[0])
}

// unknown returns an error with the names that are most similar.
func (in *Info) unknown(e *Expr, pkg string) error {
	var units, names []string
	for _, u := range in.debug.Units {
		units = append(units, u.Name)
	}
	slices.Sort(units)
	if !slices.Contains(units, pkg) {
		where := fmt.Sprintf("the program has no package %s", pkg)
		if near := edit.Similar(pkg, slices.Compact(units)); len(near) > 0 {
			where += "; there is " + strings.Join(near, ", ")
		}
		return e.errorf(len(e.name), "%s", where)
	}
	for _, v := range in.debug.Globals(pkg) {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	near := edit.Similar(e.name, names)
	if len(near) == 0 {
		near = names[:min(len(names), 8)]
	}
	where := fmt.Sprintf("package %s has no such variable, or the program does not use it", pkg)
	if len(near) > 0 {
		where += "; there is " + strings.Join(near, ", ")
	}
	return e.errorf(len(e.name), "%s", where)
}

// errorf returns an error that points at the end of its subject,
// n bytes after the beginning of the name.
func (e *Expr) errorf(n int, format string, args ...any) error {
	p := parser{text: e.Text, at: min(e.at+n, len(e.Text)) - 1}
	return p.errorf(format, args...)
}
