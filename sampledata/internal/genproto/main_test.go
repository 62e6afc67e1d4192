package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The committed code must be the output of go generate for the
// committed definition.
func TestCodeIsUpToDate(t *testing.T) {
	code := fixture.Must(generate("../../sampledata.proto"))(t)
	if len(code) != 1 {
		t.Errorf("%d files of code, want 1", len(code))
	}
	for name, want := range code {
		got := fixture.Must(os.ReadFile(filepath.Join("../pb", filepath.Base(name))))(t)
		if string(got) != want {
			t.Errorf("%s is not up to date: run go generate ./sampledata", filepath.Base(name))
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.proto")
	fixture.Check(t, os.WriteFile(file, []byte("syntax = \"proto3\";\nmessage {"), 0o666))
	if _, err := generate(file); err == nil {
		t.Error("no error for a file that is not a definition")
	}
}
