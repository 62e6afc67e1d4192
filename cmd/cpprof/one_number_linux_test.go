package main

import (
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestOneNumberOfACoreDump compares the numbers that commands print of a core dump.
func TestOneNumberOfACoreDump(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "stuck")
	file := filepath.Join(t.TempDir(), "core.cpprof")
	if out, status := printedBy(t, "import", "--program", program, "-o", file, crash(t, program, "0x7f")); status != exitFine {
		t.Fatal(out)
	}
	sameNumbers(t, file)
}
