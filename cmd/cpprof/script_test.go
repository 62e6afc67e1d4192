package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what this test's executable is under other names.
var programs = map[string]func(){"cpprof": main}

func TestMain(m *testing.M) {
	testscript.Main(interruptible{m}, programs)
}

// atATime is the number of parallel tests, unless the flag -parallel says it. Most tests wait for
// programs that they record.
const atATime = 6

// interruptible are tests whose processes end at Ctrl-C and a hang-up even if the tests themselves
// don't: a shell ignores SIGINT in what it starts in the background, nohup ignores SIGHUP, and
// cpprof leaves an ignored signal ignored.
type interruptible struct{ *testing.M }

func (m interruptible) Run() int {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			// A process gets the default of a signal that its parent handles.
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	defer fixture.Remove()
	os.Setenv("TERM", "unusable") // a test of the screen has its own terminal
	flag.Set("test.parallel", fmt.Sprint(atATime))
	return m.M.Run()
}

// TestScripts runs command lines as a person types them. The folder of each script has the recording bob.cpprof, and the
// recordings before.cpprof and after.cpprof of a program with a regression.
func TestScripts(t *testing.T) {
	t.Parallel()
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"bob", "before", "after", "demo"} {
				if err := undumpFile(filepath.Join(folder, name+".txt"), filepath.Join(e.WorkDir, name+".cpprof")); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"truncate": truncate},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
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
