package tui

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/gdamore/tcell/v2"
)

// onPTY returns an app on a terminal that the test holds. No
// signal tells the app that the terminal has gone.
func onPTY(t *testing.T, kind string) (*app, *fixture.PTY) {
	t.Helper()
	pty := fixture.OpenPTY(t)
	device := fixture.Must(tcell.NewDevTtyFromDev(pty.Name))(t)
	own := newTTY(device)
	info, err := terminalOf(kind)
	if err != nil {
		t.Skip(err)
	}
	screen := fixture.Must(tcell.NewTerminfoScreenFromTtyTerminfo(own, info))(t)
	terminal := fixture.Must(initialized(screen, own))(t)
	o := bob(t)
	o.Config = config.Default()
	return newApp(o, terminal), pty
}

// The app ends with an error if its terminal has gone, and its
// session can be saved.
func TestTheTerminalGoes(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(*app, *fixture.PTY)
		want string
	}{
		{"reading", func(_ *app, pty *fixture.PTY) { pty.Close() }, "the terminal: "},
		{"writing", func(a *app, pty *fixture.PTY) { a.terminal.tty.failed <- syscall.EIO }, "writing to the terminal: input/output error"},
		{"keys in the queue", func(_ *app, pty *fixture.PTY) {
			_, _ = io.WriteString(pty, strings.Repeat("\f", 1000))
			pty.Close()
		}, "the terminal: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, pty := onPTY(t, "xterm-256color")
			var state *session.State
			ended := make(chan error)
			go func() {
				defer a.terminal.end()
				err := a.run(t.Context())
				state = a.state()
				ended <- err
			}()
			fixture.Must(pty.Read(make([]byte, 1)))(t)
			c.lose(a, pty)
			select {
			case err := <-ended:
				if err == nil || !strings.Contains(err.Error(), c.want) || state == nil {
					t.Errorf("it ends with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the app is still running")
			}
		})
	}
}

// drawn returns what the app draws at first, until the terminal
// gets nothing more for a while.
func drawn(t *testing.T, kind string) string {
	t.Helper()
	a, pty := onPTY(t, kind)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.draw()
		a.post(a.quit)
		if err := a.run(t.Context()); err != nil {
			t.Error(err)
		}
		a.terminal.end()
	}()
	var all strings.Builder
	for b := make([]byte, 4096); ; {
		fixture.Check(t, pty.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
		n, err := pty.Read(b)
		all.Write(b[:n])
		if err == nil {
			continue
		}
		select {
		case <-ended:
			return all.String()
		default:
			if !errors.Is(err, syscall.EAGAIN) && !strings.Contains(err.Error(), "timeout") {
				t.Fatal(err)
			}
		}
	}
}

// sequences are what moves the cursor and sets colours and modes.
var sequences = regexp.MustCompile(`\x1b(\[[?>]?[0-9;:]*[a-zA-Z]|[()][0B]|[=>])|\x0f`)

// Without a locale that has more than ASCII, everything is drawn
// with it, and no sequence shows its padding.
func TestASCII(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	for _, kind := range []string{"xterm-256color", "vt220", "linux"} {
		t.Run(kind, func(t *testing.T) {
			screen := sequences.ReplaceAllString(drawn(t, kind), "")
			screen, _, _ = strings.Cut(screen, " Command") // before the key of the help
			if i := strings.IndexFunc(screen, func(r rune) bool { return r >= 0x7f || r == '?' }); i >= 0 || strings.Contains(screen, "$<") {
				t.Errorf("it draws %q", screen)
			}
		})
	}
}
