package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// why warns of two programs with one name, and not of one
// program in two versions.
func TestWhyOfDifferentProgramsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	recordAs := func(name, program string, args ...string) *recorder {
		file := filepath.Join(t.TempDir(), name)
		fixture.Check(t, os.Link(fixture.Build(t, program), file))
		return startRecording(t, "-d", "3s", "-p", fmt.Sprint(fixture.Start(t, file, args...).Pid()))
	}
	all := []*recorder{
		recordAs("server", "planted", "lock"), recordAs("server-2", "planted", "lock", "healthy"),
		recordAs("server", "regression", "copy"),
	}
	for _, r := range all {
		r.finish(t, 0, sampledata.EndDuration)
	}
	for i, wants := range []bool{false, true} {
		later := all[i+1].file
		c := self(t, "why", later, "--against", all[0].file)
		text := new(strings.Builder)
		c.Stderr = text
		if err := c.Run(); err != nil {
			t.Fatal(err, text)
		}
		if warns := strings.Contains(text.String(), "few functions in common"); warns != wants {
			t.Errorf("%s: warns %v, want %v: %s", later, warns, wants, text)
		}
	}
}
