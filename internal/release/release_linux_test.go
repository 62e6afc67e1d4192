package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A release of this platform: its checksums are right, its
// packages have what they should, and the image's programs run
// with nothing else in their root folder.
func TestReleaseLong(t *testing.T) {
	fixture.LongInTurn(t, 1)
	t.Chdir(fixture.Root())
	p := platform{"linux", runtime.GOARCH}
	if !slices.Contains(platforms, p) {
		t.Skipf("no release for %v", p)
	}
	r := &release{version: "v1.2.3", folder: t.TempDir(), date: time.Unix(1e9, 0).UTC()}
	fixture.Check(t, r.make([]platform{p}))
	list := fixture.Must(files(r.folder))(t)
	var want []string
	for _, end := range []string{".apk", ".cdx.json", ".deb", ".rpm", ".tar.gz"} {
		want = append(want, filepath.Base(r.name(p, end)))
	}
	if want = append([]string{"SHA256SUMS"}, append(want, filepath.Base(r.imagePath()))...); !slices.Equal(list, want) {
		t.Errorf("the files are %q, want %q", list, want)
	}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"sha256sum -c SHA256SUMS", want[1:]},
		{"tar tvzf " + r.name(p, ".tar.gz"), []string{"rwxr-xr-x", "/cpprof\n", "/kubectl-cpprof\n", "/man/cpprof-why.1\n", "/completions/_cpprof\n"}},
		{"dpkg-deb -c " + r.name(p, ".deb"), []string{"-rwxr-xr-x root/root", " ./usr/bin/cpprof\n", " ./usr/bin/kubectl-cpprof\n",
			" ./usr/share/man/man1/cpprof-why.1\n", "./usr/share/bash-completion/completions/cpprof\n"}},
	} {
		args := strings.Fields(c.command)
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Logf("not examined: %v", err)
			continue
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = r.folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", c.command, err, out)
		}
		for _, text := range c.want {
			if !strings.Contains(string(out), text) {
				t.Errorf("%s: no %q in\n%s", c.command, text, out)
			}
		}
	}
	root := t.TempDir()
	unpackImage(t, r.imagePath(), p, root)
	if about, err := os.Stat(filepath.Join(root, "cpprof")); err != nil {
		t.Error(err)
	} else if about.Size() >= 31e6 {
		// A package that looks up methods by name makes the
		// linker keep all methods of all types, a tenth of the
		// program: go build -ldflags=-dumpdep ./cmd/cpprof |&
		// grep ReflectMethod
		t.Errorf("cpprof has %v bytes, want less than 31 MB", about.Size())
	}
	for args, want := range map[string]string{"cpprof --version": "v1.2.3", "kubectl-cpprof --help": "kubectl cpprof why POD"} {
		name, flag, _ := strings.Cut(args, " ")
		cmd := &exec.Cmd{Path: "/" + name, Args: []string{name, flag}, Env: []string{"PATH=/"}, Dir: "/tmp",
			SysProcAttr: &syscall.SysProcAttr{Chroot: root}}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skipf("only root can change the root folder: %v", err)
		}
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
}
