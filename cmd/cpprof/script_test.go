package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what this test's executable is under other names.
var programs = map[string]func(){"cpprof": main}

func TestMain(m *testing.M) {
	if program := programs[filepath.Base(os.Args[0])]; program != nil {
		program()
		os.Exit(0)
	}
	endAtSignals()
	os.Setenv("TERM", "unusable") // a test of the screen has its own terminal
	flag.Set("test.parallel", fmt.Sprint(atATime))
	fixture.Main(m)
}

// atATime is the number of parallel tests, unless the flag
// -parallel says it. Most tests wait for programs that they
// record.
const atATime = 6

// endAtSignals lets the tests' processes end at Ctrl-C and a
// hang-up even if the tests themselves don't: a shell ignores
// SIGINT in what it starts in the background, nohup ignores
// SIGHUP, and cpprof leaves an ignored signal ignored.
func endAtSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			// A process gets the default of a signal that its parent handles.
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// TestScripts runs command lines as a person types them. The
// folder of each script has the recording bob.cpprof, and the
// recordings before.cpprof and after.cpprof of a program with a
// regression. "cpprof" runs in the process of the test, "exec
// cpprof" in its own: so do lines with an input.
func TestScripts(t *testing.T) {
	folder := fixture.Must(filepath.Abs("testdata"))(t)
	exe := fixture.Must(os.Executable())(t)
	bin := t.TempDir()
	fixture.Check(t, os.Symlink(exe, filepath.Join(bin, "cpprof")))
	var alone sync.Mutex // the working directory is the process's
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(folder, "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			for _, name := range []string{"bob", "before", "after", "demo"} {
				if err := undumpFile(filepath.Join(folder, name+".txt"), filepath.Join(e.WorkDir, name+".cpprof")); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"truncate": truncate,
			"cpprof": func(ts *testscript.TestScript, fails bool, args []string) {
				alone.Lock()
				defer alone.Unlock()
				t.Chdir(ts.MkAbs("."))
				runIn(ts, fails, args)
			},
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// runIn runs a command line of a script, which succeeds or
// fails, in this process.
func runIn(ts *testscript.TestScript, fails bool, args []string) {
	status := run(context.Background(), args, terminal{in: strings.NewReader(""), out: ts.Stdout(), err: ts.Stderr(),
		color: wantsColor(false, ts.Getenv)})
	if failed := status != exitFine; failed != fails {
		ts.Fatalf("cpprof %q ends with %d: %s", args, status, ts.Stderr())
	}
}

// undumpFile makes a recording from a file with its text form.
func undumpFile(text, recording string) error {
	r, err := interchange.ReadRecording(text)
	if err != nil {
		return err
	}
	return r.Write(recording)
}

// truncate removes the last third of a file. In a script: truncate FILE.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()*2/3))
}

// The exit status distinguishes a wrong command line from a failure.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want int
	}{
		{"--version", exitFine},
		{"--help", exitFine},
		{"nosuch", exitUsage},
		{"report", exitUsage},
		{"report x.cpprof --bogus", exitUsage},
		{"report x.cpprof --set accounting=lunar", exitUsage},
		{"cost x.cpprof --server ..", exitUsage},
		{"report xtree", exitUsage},
		{"report xarc testdata", exitFailed},
		{"find x.cpprof --server --coverage 120%", exitUsage},
		{"find x.cpprof --server --fail-above much", exitUsage},
		{"find x.cpprof --interactive --server --format elf", exitUsage},
		{"find --interactive testdata/bob.txt", exitFine},
		{"find --interactive=-1 testdata/bob.txt --server", exitUsage},
		{"find --interactive=1 testdata/bob.txt --server", exitFine},
		{"find --interactive=99 testdata/bob.txt --server", exitFailed},
		{"find --interactive script_test.go", exitFailed},
		{"find --interactive script_test.go --format arcflow", exitFailed},
		{"find --interactive script_test.go --format arcflow --server", exitFailed},
		{"find x.cpprof --server", exitFailed},
		{"info no/such.cpprof", exitFailed},
		{"info testdata", exitFailed},
		{"import -o /dev/null/x testdata/bob.txt", exitFailed},
		{"testdata/bob.txt", exitFine},
		{"dump testdata/bob.txt", exitUsage},
	} {
		quiet := terminal{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
		if got := run(t.Context(), strings.Fields(c.line), quiet); got != c.want {
			t.Errorf("cpprof %s ends with %d, want %d", c.line, got, c.want)
		}
	}
}

// ownCommand returns a path at which this program of tests is
// cpprof (see TestMain), for shells and terminals. To link cpprof
// itself takes seconds. It is no symbolic link, since cpprof
// starts itself.
func ownCommand(t testing.TB) string {
	t.Helper()
	own := fixture.Must(os.Executable())(t)
	program := filepath.Join(t.TempDir(), "cpprof")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if os.Link(own, program) != nil { // another file system
		fixture.Check(t, os.WriteFile(program, fixture.Must(os.ReadFile(own))(t), 0o755))
	}
	return program
}
