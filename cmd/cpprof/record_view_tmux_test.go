//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/tui/session"
)

// A class of lifecycle that hardly did anything but wait is
// hidden, but never all of them.
const lifecycleClass = `go:(main\.tick|runtime\.main)`

func TestRecordViewLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	mutex, lifecycle := fixture.Build(t, "mutex"), fixture.Build(t, "lifecycle")
	needsTracing(t, fixture.Start(t, mutex).Pid())
	program := ownCommand(t)
	// begin runs record --view in a new folder, and prints the
	// status afterwards.
	begin := func(t *testing.T, args string) (*pane, string) {
		folder := paneFolder(t)
		return newPane(t, folder, fmt.Sprintf(`%s record --view -o run.cpprof %s; echo "status $?"; sleep 600`, program, args)), folder
	}
	t.Run("the program ends", func(t *testing.T) {
		p, folder := begin(t, "-- "+lifecycle+" quit")
		viewUntilTheProgramEnds(t, p, folder)
	})
	t.Run("left", func(t *testing.T) {
		p, folder := begin(t, "-- "+mutex)
		viewAndLeave(t, p, folder)
	})
	t.Run("the time is over", func(t *testing.T) {
		p, _ := begin(t, "-d 1s -- "+mutex)
		p.waits(`■ the recording has ended: the time is over; process [0-9]+ continues until q`)
		p.keys("q")
		p.waits(`^status 130$`)
	})
	t.Run("deadlock", func(t *testing.T) {
		target := fixture.Start(t, fixture.Build(t, "deadlock"))
		p, _ := begin(t, fmt.Sprintf("-p %d", target.Pid()))
		viewADeadlock(t, p)
	})
	t.Run("attached", func(t *testing.T) {
		target := fixture.Start(t, lifecycle, "wait")
		p, folder := begin(t, fmt.Sprintf("-p %d", target.Pid()))
		viewAttached(t, p, folder)
		target.Lives(t)
	})
}

// finished reads a recording that has been finished.
func finished(t *testing.T, folder string) *sampledata.Recording {
	t.Helper()
	r := fixture.Must(sampledata.Open(folder))(t)
	if r.End == nil || r.Samples.Len() == 0 {
		t.Fatalf("the recording is not complete: %d samples, end %v", r.Samples.Len(), r.End)
	}
	return r
}

// The program ends while the Analyzer shows it: the Analyzer
// stays and says so, and cpprof ends with the program's status.
// The program's output is not on the screen, but in a file that
// cpprof names.
func viewUntilTheProgramEnds(t *testing.T, p *pane, folder string) {
	screen := p.waits(`● recording; q ends it; the program's output: run\.cpprof/Output`)
	p.waits(lifecycleClass)
	if strings.Contains(screen, "....") {
		t.Errorf("the program's output is on the screen:\n%s", screen)
	}
	growing := fixture.Must(sampledata.Open(filepath.Join(folder, "run.cpprof")))(t)
	fixture.Check(t, syscall.Kill(int(growing.Header.PID), syscall.SIGUSR1))
	p.waits(`■ the recording has ended: `)
	p.waits(` ■ ended *$`)
	p.keys("Enter", "q")
	p.waits(`^cpprof: the program's output is in run\.cpprof/Output$(?s:.*)^status 7$`)
	if end := finished(t, filepath.Join(folder, "run.cpprof")).End; end.Cause != sampledata.EndExited || end.ExitStatus != 7 {
		t.Errorf("the recording ends with %+v", end)
	}
	log, err := os.ReadFile(filepath.Join(folder, "run.cpprof", "Output"))
	if err != nil || !strings.HasPrefix(string(log), "ready\n..") {
		t.Errorf("%v: the program's output is %.40q", err, log)
	}
}

// Leaving the Analyzer ends the recording and the launched
// program, as Ctrl-C would. The open windows are saved with the
// recording.
func viewAndLeave(t *testing.T, p *pane, folder string) {
	p.waits(`go:main\.worker$`)
	p.keys("Enter")
	p.waits(`[0-9]    ▾ main\.worker`) // two levels open as soon as they have enough hits
	p.keys("e")
	p.waits(`[0-9] +\.\.main\.worker$`)
	p.keys("q")
	p.waits(`^status 130$`)
	r := finished(t, filepath.Join(folder, "run.cpprof"))
	if err := syscall.Kill(int(r.Header.PID), 0); err == nil {
		t.Errorf("the program continues as process %d", r.Header.PID)
	}
	kept, err := session.Load(filepath.Join(folder, "run.cpprof"), tui.SessionKinds())
	if err != nil || len(kept.Windows) != 1 {
		t.Fatalf("%v: the session has %+v", err, kept)
	}
	extend := refine.Step{Kind: refine.KindExtended, Text: "go:main.worker"}
	if steps := kept.Windows[0].(*session.Profile).Steps; len(steps) == 0 || steps[len(steps)-1] != extend {
		t.Errorf("the session has the steps %v, want %v last", steps, extend)
	}
}

// A program that record only attached to continues.
func viewAttached(t *testing.T, p *pane, folder string) {
	p.waits(lifecycleClass)
	p.keys("q")
	p.waits(`^status 0$`)
	if end := finished(t, filepath.Join(folder, "run.cpprof")).End; end.Cause != sampledata.EndInterrupted {
		t.Errorf("the recording ends with %+v", end)
	}
}

func TestRecordViewRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	program := fixture.Build(t, "brief")
	screen := terminal{inIsTerminal: true, outIsTerminal: true, errIsTerminal: true}
	t.Setenv("TERM", "xterm")
	for _, c := range []struct {
		t    terminal
		line string
		want string
	}{
		{terminal{}, "record --view -p 1", "--view needs a terminal"},
		{screen, "record --view -- go run ./cmd", "--view shows one program"},
		{screen, "record --view --child x -p 1", "--view shows one program"},
		{screen, "record --view -- ./gone", "gone"},
		{screen, "record --view -o gone/there.cpprof -- " + program, "there is no folder gone"},
	} {
		var errs strings.Builder
		c.t.out, c.t.err, c.t.in = &errs, &errs, strings.NewReader("")
		if status := run(t.Context(), strings.Fields(c.line), c.t); status == exitFine || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d: %s", c.line, status, errs.String())
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 0 {
		t.Errorf("%v: left behind: %v", err, entries)
	}
}

// The Analyzer restores its windows, unless --fresh is given;
// 'report session' prints them as text.
func TestViewIsRestored(t *testing.T) {
	folder, program := recordingOfBob(t), ownCommand(t)
	view := program + " view bob.cpprof"
	p := newPane(t, folder, fmt.Sprintf(`%[1]s; echo left; read line; %[1]s; %[1]s --fresh; %[1]s --server; %[2]s report session bob.cpprof; sleep 600`,
		view, program))
	p.waits(`^›1\. go:bob\.\(\*terminal\)\.run .* spends 80\.0 %`) // what is slow comes first
	p.keys("x")
	p.waits(`go:bob\.\(\*terminal\)\.run$`)
	p.keys("Enter", "d", "j", "e")
	const refined = `0\.800   120        \.\.:MONITOR$`
	p.waits(refined)
	p.keys("q")
	p.waits(`^left$`)
	p.keys("Enter")
	p.waits(`^ 1 Summary  2 go:bob`)
	p.waits(refined)
	p.keys("q")
	p.waits(`^ 1 Summary  2 Why$`)
	p.keys("q")
	p.waits(`^ 1 Summary  2 go:bob.*  3 Server$`)
	p.keys("q")
	p.waits(`(?s)^ 0\.800   120      \.\.:MONITOR$.*^Server View`)
}

// The Analyzer reports a deadlock as soon as it occurs, and
// lists it among the locks; cpprof prints it again at the end.
func viewADeadlock(t *testing.T, p *pane) {
	p.waits(`DEADLOCK of goroutines [0-9]+, [0-9]+, each waiting for a lock of the next; L shows it`)
	p.waits(`● recording; q ends it; 1 DEADLOCK \(key L\)`)
	p.keys("L")
	p.waits(`1 DEADLOCK: goroutines that can never continue`)
	p.keys("q")
	screen := p.waits(`^status 0$`)
	if !strings.Contains(screen, "cpprof: DEADLOCK in ") {
		t.Errorf("it does not say what has been found:\n%s", screen)
	}
}
