package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestReadme runs every command line of README.md, on a recording of the demo made just before.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := readmeCommands(string(text))
	if len(commands) < 8 {
		t.Fatalf("README.md has only %d command lines: %q", len(commands), commands)
	}
	target := fixture.Start(t, fixture.BuildOnce(t, "mutex"))
	needsTracing(t, target.Pid())
	script := "exec $CPPROF demo -d 3s\nstdout 'four problems on purpose'\n"
	for _, c := range commands {
		script += "exec $CPPROF " + strings.TrimPrefix(c, "cpprof ") + "\nstdouterr\n"
	}
	file := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	server := fixture.BuildOnce(t, "brief")
	program := fixture.Cpprof(t) // the demo records this, and its functions have other names in a test
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Setup: func(e *testscript.Env) error {
			e.Setenv("TARGET", fmt.Sprint(target.Pid()))
			e.Setenv("CPPROF", program)
			return os.Symlink(server, filepath.Join(e.WorkDir, "server"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"stdouterr": saidSomething},
	})
}

// saidSomething checks that the command before has an output.
func saidSomething(ts *testscript.TestScript, _ bool, _ []string) {
	if ts.ReadFile("stdout")+ts.ReadFile("stderr") == "" {
		ts.Fatalf("it says nothing")
	}
}

var readmeLine = regexp.MustCompile(`(?m)^    (?:\$ )?(cpprof .*)$`)

// readmeCommands are the command lines of the README, made short, for a target of the test's own.
func readmeCommands(text string) []string {
	var commands []string
	for _, m := range readmeLine.FindAllStringSubmatch(text, -1) {
		c, _, _ := strings.Cut(m[1], "  #")
		c = strings.TrimSpace(c)
		c = strings.ReplaceAll(c, "-p 4711", "-d 1s -p $TARGET")
		c = strings.ReplaceAll(c, "-d 10s", "-d 1s")
		if strings.HasPrefix(c, "cpprof demo") {
			continue // run first, and shorter
		}
		commands = append(commands, c)
	}
	return commands
}

// needsTracing skips a test where this process may not trace another, such as the given one.
func needsTracing(t *testing.T, pid int) {
	t.Helper()
	var said strings.Builder
	probe := filepath.Join(t.TempDir(), "probe.cpprof")
	status := run(t.Context(), []string{"record", "-d", "100ms", "-o", probe, "-p", fmt.Sprint(pid)},
		terminal{in: strings.NewReader(""), out: io.Discard, err: &said})
	if status != exitFine {
		t.Skipf("recording is not possible here: %s", said.String())
	}
}
