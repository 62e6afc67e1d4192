//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// relabelled builds a program, and changes the Go version in it
// to another one of the same length.
func relabelled(t *testing.T, version string, flags ...string) string {
	t.Helper()
	program := fixture.Must(os.ReadFile(build(t, flags...)))(t)
	f := fixture.Must(elf.NewFile(bytes.NewReader(program)))(t)
	defer f.Close()
	info := f.Section(".go.buildinfo")
	place := program[info.Offset : info.Offset+info.FileSize]
	at := bytes.Index(place, []byte(runtime.Version()))
	if at < 0 {
		t.Fatalf("the program doesn't say that it is linked by %s", runtime.Version())
	}
	copy(place[at:], version)
	path := filepath.Join(t.TempDir(), "target")
	fixture.Check(t, os.WriteFile(path, program, 0o755))
	return path
}

// localRelease returns the release line of the Go that runs the
// tests, and the rest of its name.
func localRelease(t *testing.T) (line, patch string) {
	t.Helper()
	name := runtime.Version()
	if _, exact, err := goruntime.ParseRelease(name); err != nil || !exact {
		t.Skipf("%s is not a release", name)
	}
	i := strings.LastIndexByte(name, '.')
	return name[:i], name[i:]
}

// A program of an unknown version is read with the layout of the
// nearest known one, which fits.
func TestNearestVersion(t *testing.T) {
	line, patch := localRelease(t)
	path := relabelled(t, line+"-"+strings.Repeat("x", len(patch)-1), "-ldflags=-s -w")
	v := begin(t, path, quiet...)
	b := attach(t, v)
	if b.t.l.Source != layout.Guessed {
		t.Errorf("the layout's source is %v", b.t.l.Source)
	}
	checkOracle(t, record(t, b, 3), v.dump())
}

// A program whose runtime is not that of the release that it
// names is read with its own debug information.
func TestOwnDescription(t *testing.T) {
	_, patch := localRelease(t)
	v := begin(t, relabelled(t, "go1.21"+patch), quiet...)
	b := attach(t, v)
	if b.t.l.Source != layout.FromDWARF {
		t.Errorf("the layout's source is %v", b.t.l.Source)
	}
	checkOracle(t, record(t, b, 3), v.dump())
}

// A program whose layout does not fit is refused, with a message
// that says what was tried.
func TestWrongVersion(t *testing.T) {
	line, patch := localRelease(t)
	if line == "go1.21" {
		t.Skip("go1.21 fits itself")
	}
	for _, version := range []string{"go1.21" + patch, "go1.21-" + strings.Repeat("x", len(patch)-1)} {
		l := fixture.Must(layout.ForVersion(version, runtime.GOARCH))(t)
		v := begin(t, relabelled(t, version, "-ldflags=-s -w"), quiet...)
		p, err := sampler.Find(v.Process.Pid)
		if err != nil {
			t.Skip(err)
		}
		defer p.Release()
		b, err := Attach(p)
		if err == nil {
			b.Close()
			t.Fatalf("%s: accepted", version)
		}
		for _, part := range []string{"its runtime (" + version + ") was read by " + l.Origin(), "--backend delve"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error doesn't say %q: %v", version, part, err)
			}
		}
	}
}

// For each offset that the sampler depends on, validation
// notices a wrong value.
func TestValidate(t *testing.T) {
	t.Parallel()
	v := begin(t, build(t, "-ldflags=-s -w"), quiet...)
	tg := attach(t, v).t // which found that all is right
	good := tg.l
	for name, spoil := range map[string]func(l *layout.Layout) *layout.Offset{
		"m.procid":       func(l *layout.Layout) *layout.Offset { return &l.M.ProcID },
		"m.g0":           func(l *layout.Layout) *layout.Offset { return &l.M.G0 },
		"m.curg":         func(l *layout.Layout) *layout.Offset { return &l.M.CurG },
		"m.alllink":      func(l *layout.Layout) *layout.Offset { return &l.M.AllLink },
		"p.id":           func(l *layout.Layout) *layout.Offset { return &l.P.ID },
		"g.m":            func(l *layout.Layout) *layout.Offset { return &l.G.M },
		"g.goid":         func(l *layout.Layout) *layout.Offset { return &l.G.Goid },
		"g.atomicstatus": func(l *layout.Layout) *layout.Offset { return &l.G.AtomicStatus },
		"g.stack.lo":     func(l *layout.Layout) *layout.Offset { return &l.G.StackLo },
		"g.sched.sp":     func(l *layout.Layout) *layout.Offset { return &l.G.SchedSP },
		"g.waitreason":   func(l *layout.Layout) *layout.Offset { return &l.G.WaitReason },
	} {
		bad := *good
		*spoil(&bad) += 8
		tg.l = &bad
		tg.lay()
		if err := tg.check(); err == nil {
			t.Errorf("%s: a wrong offset is not noticed", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	tg.l.M.ProcID += 8
	err := tg.validate()
	want := "was read by " + good.Origin() + ", with the addresses of its variables as its code has them: "
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error doesn't say %q: %v", want, err)
	}
}

// Validation is not misled by goroutines that change threads and
// end all the time.
func TestValidateInMotion(t *testing.T) {
	t.Parallel()
	v := begin(t, build(t, "-ldflags=-s -w"), "-pairs=50", "-short=4", "-lockers=4", "-garbage")
	for range 5 {
		tg := fixture.Must(openTarget(v.Process.Pid))(t)
		tg.Close()
	}
}
