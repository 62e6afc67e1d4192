package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// An archive depends on what is in it, and on nothing of the
// machine that makes it.
func TestArchivesAreReproducible(t *testing.T) {
	var made [][]byte
	for i := range 2 {
		folder := filepath.Join(t.TempDir(), "parts")
		fixture.Check(t, os.MkdirAll(filepath.Join(folder, "man"), 0o700))
		names := []string{"cpprof", "man/cpprof.1"}
		if i == 1 {
			names = []string{"man/cpprof.1", "cpprof"}
		}
		for _, name := range names {
			fixture.Check(t, os.WriteFile(filepath.Join(folder, name), []byte(name), os.FileMode(0o600+i*0o44)))
		}
		r := release{date: time.Unix(1e9, 0)}
		path := filepath.Join(t.TempDir(), "a.tar.gz")
		fixture.Check(t, r.writeArchive(path, folder))
		text := fixture.Must(os.ReadFile(path))(t)
		made = append(made, text)
		time.Sleep(time.Millisecond)
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two archives of the same files differ")
	}
}

// A manual page shows every character of a help.
func TestPage(t *testing.T) {
	r := release{version: "v1.2.3", date: time.Unix(1e9, 0)}
	page := string(r.page("cpprof-why", "Say why", []byte(".start\n'--flag' \\n\n")))
	for _, want := range []string{
		`.TH "CPPROF-WHY" 1 "2001-09-09" "cpprof v1.2.3"`, `cpprof\-why \- Say why`,
		"\\&.start\n", `\&\(aq\-\-flag\(aq \en`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}

// Versions are those that the go command takes for a module.
func TestVersions(t *testing.T) {
	for version, valid := range map[string]bool{"v0.1.0": true, "v1.2.3-rc.1": true, "0.1.0": false, "v1": false, "v1.0.0; rm": false} {
		if validVersion.MatchString(version) != valid {
			t.Errorf("%s: valid: %v", version, !valid)
		}
	}
}

// A release is made of a commit, not of what lies beside it.
func TestChangedCheckoutIsRefused(t *testing.T) {
	checkout := t.TempDir()
	write := func(name string) {
		t.Helper()
		fixture.Check(t, os.WriteFile(filepath.Join(checkout, name), nil, 0o600))
	}
	say := func(args ...string) {
		t.Helper()
		fixture.Must(git(checkout, args...))(t)
	}
	write("kept.go")
	say("init", "-q")
	say("add", ".")
	say("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a")
	if err := checkClean(checkout); err != nil {
		t.Errorf("a clean checkout: %v", err)
	}
	if date, err := commitDate(checkout); err != nil || time.Since(date) > time.Hour {
		t.Errorf("the commit's date is %v, %v", date, err)
	}
	write("new.go")
	fixture.Check(t, os.Remove(filepath.Join(checkout, "kept.go")))
	err := checkClean(checkout)
	if err == nil || !strings.Contains(err.Error(), "D kept.go\n?? new.go") || !strings.Contains(err.Error(), "stash") {
		t.Errorf("a changed checkout: %v", err)
	}
	if err := checkClean(filepath.Join(checkout, ".git")); err == nil || !strings.Contains(err.Error(), "work tree") {
		t.Errorf("no checkout: %v", err)
	}
}
