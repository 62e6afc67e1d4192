//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
)

// A pane is a terminal of 80x24 cells in which a test presses the keys.
type pane struct {
	t      *testing.T
	socket string
}

// newPane runs a shell command in a terminal of its own.
func newPane(t *testing.T, folder, command string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the Analyzer is not seen in a real terminal")
	}
	p := &pane{t, filepath.Join(t.TempDir(), "tmux")}
	t.Cleanup(func() { _ = p.command("kill-server").Run() })
	p.tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", folder, command)
	return p
}

// paneFolder returns a folder for panes. It is removed when no
// process works in it any more: cpprof may still save its
// session there.
func paneFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	worksThere := func(cwd string) bool {
		at, _ := os.Readlink(cwd)
		return at == folder
	}
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if all, _ := filepath.Glob("/proc/[0-9]*/cwd"); !slices.ContainsFunc(all, worksThere) {
				return
			}
		}
	})
	return folder
}

func (p *pane) command(args ...string) *exec.Cmd {
	c := exec.Command("tmux", append([]string{"-u", "-f", os.DevNull, "-S", p.socket}, args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "NO_COLOR=")
	return c
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys presses keys, by the names that tmux gives them.
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.tmux("send-keys", k)
	}
}

func (p *pane) screen() string { p.t.Helper(); return p.tmux("capture-pane", "-p") }

// waits waits until the screen matches a pattern.
func (p *pane) waits(pattern string) string {
	p.t.Helper()
	want := regexp.MustCompile("(?m)" + pattern)
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(20 * time.Millisecond) {
		if screen := p.screen(); want.MatchString(screen) {
			return screen
		}
	}
	p.t.Fatalf("the screen never has %q:\n%s", pattern, p.screen())
	return ""
}

// compare compares a screen with the expected one in testdata.
func compare(t *testing.T, name, screen string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		fixture.Check(t, os.WriteFile(file, []byte(screen), 0o666))
	}
	want := fixture.Must(os.ReadFile(file))(t)
	if screen != string(want) {
		t.Errorf("the screen is\n%swant\n%s", screen, want)
	}
}

// recordingOfBob returns the folder of bob.cpprof.
func recordingOfBob(t *testing.T) string {
	t.Helper()
	r := fixture.Must(interchange.ReadRecording("testdata/bob.txt"))(t)
	folder := paneFolder(t)
	fixture.Check(t, r.Write(filepath.Join(folder, "bob.cpprof")))
	return folder
}

// TestWalkOfTheBOBCase repeats the paper's walk (CPPROFJ,
// section 6.2): class, run, the transaction, :MONITOR, class,
// the holder's function. The first two refinements are there
// from the start.
func TestWalkOfTheBOBCase(t *testing.T) {
	t.Parallel()
	p := newPane(t, recordingOfBob(t), ownCommand(t)+" view bob.cpprof")
	p.waits(`^›1\. go:bob\.\(\*terminal\)\.run .* spends 80\.0 %`) // what is slow comes first
	p.keys("x")
	p.waits(`go:bob\.\(\*terminal\)\.run$`)
	p.keys("Enter")
	p.waits(`^█›1\.000   150  ▾ go:bob`)
	p.waits(`^█ 1\.000   150    ▾ bob\.\(\*terminal\)\.run$`)
	p.waits(`^█ 1\.000   150        bob\.\(\*manager\)\.transact$`)
	p.keys("j", "j", "e")
	p.waits(`^█ 0\.800   120          \.\.:MONITOR$`)
	p.keys("j", "d")
	p.waits(`^█ 0\.800   120            go:bob`)
	p.keys("j", "e")
	screen := p.waits(`^█ 0\.533    80              \.\.bob\.\(\*date\)\.field$`)
	compare(t, "bob", screen)
	p.keys("q")
}

// TestWalksOfTheDemoLong starts the demo, and reaches each of
// its problems with ten keys at most.
func TestWalksOfTheDemoLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	needsTracing(t, fixture.Start(t, fixture.Build(t, "mutex")).Pid())
	folder := paneFolder(t)
	p := newPane(t, folder, fixture.Cpprof(t)+" demo -d 6s; sleep 600")
	p.waits("The server has four problems")
	r := fixture.Must(sampledata.Open(filepath.Join(folder, "demo.cpprof")))(t)
	if n := r.Samples.Len(); n < 60 {
		t.Skipf("only %d samples: this machine is too busy for a profile", n)
	}
	const cost = `[░▒▓█·][ ›][0-9.]+ +[0-9.]+ +`
	for _, walk := range []struct {
		problem string
		keys    []string
		shows   []string
	}{
		{
			problem: "a lock held over I/O",
			keys:    []string{"Enter", "e", "/", "M", "O", "N", "Enter"},
			shows:   []string{cost + `▾ go:main\.worker`, cost + `\.\.main\.\(\*journal\)\.add$`, `^[▒▓█]›[0-9.]+ +[0-9.]+ +\.\.:MONITOR$`},
		},
		{
			problem: "a quadratic queue",
			keys:    []string{"1", "s", "e", "/", "@", "q", "Enter", "d"},
			shows:   []string{cost + `▾ \.\.@queue`, cost + `main\.\(\*queue\)\.push$`},
		},
		{
			problem: "an encoder that is called in vain",
			keys:    []string{"/", ".", "e", "n", "c", "Enter", "u"},
			shows:   []string{cost + `▾ \.\.main\.\(\*feed\)\.trace\n` + cost + `main\.\(\*encoder\)\.encode$`},
		},
		{
			problem: "more runnable goroutines than processors",
			keys:    []string{"1", "/", "p", "u", "b", "Enter", "Enter", "e"},
			shows:   []string{cost + `▾ go:main\.publisher`, `^[▒▓█] [0-9.]+ +[0-9.]+ +\.\.:LOAD$`},
		},
	} {
		if len(walk.keys) > 10 {
			t.Errorf("%s takes %d keys", walk.problem, len(walk.keys))
		}
		p.keys(walk.keys...)
		for _, s := range walk.shows {
			p.waits(s)
		}
		t.Logf("%s:\n%s", walk.problem, p.screen())
	}
	p.keys("q")
	// It prints the problems and the answer of why, of which the
	// beginning may be above the screen.
	p.waits("Not (slow|seen to move):")
	if all := p.tmux("capture-pane", "-p", "-S", "-200"); !strings.Contains(all, "more runnable goroutines than processors") {
		t.Errorf("the four problems are not told:\n%s", all)
	}
}

// TestSignalsGiveTheTerminalBack sends the Analyzer the signals that end it.
func TestSignalsGiveTheTerminalBack(t *testing.T) {
	t.Parallel()
	folder, program := recordingOfBob(t), ownCommand(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			p := newPane(t, folder, fmt.Sprintf(`sh -c 'echo $$ >%s; exec %s view bob.cpprof'; echo "status $?"; sleep 600`, pid, program))
			p.waits("q Quit")
			if on := p.tmux("display-message", "-p", "#{alternate_on}"); on != "1\n" {
				t.Errorf("the Analyzer is not on the alternate screen: %q", on)
			}
			text := fixture.Must(os.ReadFile(pid))(t)
			number := fixture.Must(strconv.Atoi(strings.TrimSpace(string(text))))(t)
			fixture.Check(t, syscall.Kill(number, signal))
			screen := p.waits("^status 1$")
			if on := p.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"); on != "0 1 0\n" {
				t.Errorf("alternate screen, cursor, mouse: %q, want 0 1 0", on)
			}
			if !strings.Contains(screen, "ended by a signal") {
				t.Errorf("it does not say why:\n%s", screen)
			}
		})
	}
}

// After Ctrl-Z the shell has the terminal. After fg, the
// Analyzer has it again, and goes on where it was. In a terminal
// without a shell, Ctrl-Z does no harm.
func TestTheShellSuspendsTheAnalyzer(t *testing.T) {
	t.Parallel()
	folder, program := recordingOfBob(t), ownCommand(t)
	p := newPane(t, folder, "sh -i")
	p.keys(program+" view bob.cpprof", "Enter")
	p.waits("q Quit")
	for range 2 {
		p.keys("Enter")
		p.waits("Thread View of")
		p.keys("C-z")
		p.waits("Stopped|Suspended")
		if on := p.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"); on != "0 1 0\n" {
			t.Errorf("alternate screen, cursor, mouse: %q, want 0 1 0", on)
		}
		p.keys("fg", "Enter")
		p.waits("Thread View of")
		p.keys("x")
		p.waits("⏎ Open")
	}
	alone := newPane(t, folder, program+" view bob.cpprof; sleep 600")
	alone.waits("q Quit")
	alone.keys("C-z")
	alone.waits("the Analyzer goes on: there is no shell")
	alone.keys("Enter")
	alone.waits("Thread View of")
	alone.keys("q")
}
