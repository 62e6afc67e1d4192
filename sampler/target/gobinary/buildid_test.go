package gobinary

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestBuildID(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test's programs are no ELF files")
	}
	for _, program := range []string{"mutex", "states"} {
		path := fixture.Build(t, program, "-ldflags=-s -w")
		b := fixture.Must(os.ReadFile(path))(t)
		want := fixture.Must(exec.Command("go", "tool", "buildid", path).Output())(t)
		if got, err := BuildID(bytes.NewReader(b)); err != nil || got != strings.TrimSpace(string(want)) || got == "" {
			t.Errorf("%s: got %q, %v; want %q", program, got, err, want)
		}
		if id, err := BuildID(bytes.NewReader(b[:100])); err == nil {
			t.Errorf("a file that is cut off has the ID %q", id)
		}
	}
}
