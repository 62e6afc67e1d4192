//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A victim is a running testdata/programs/victim. What it has
// been sent is counted, and what came back.
type victim struct {
	*process
	in    io.WriteCloser
	pid   func() int              // of the program itself
	alike func() (*victim, error) // starts another one with the same arguments

	sentBytes, backBytes     atomic.Int64
	sentSignals, backSignals atomic.Int64
	begun                    atomic.Int64 // how often the program began
	worked                   atomic.Int64 // how many pieces of work it has done
	mu                       sync.Mutex
	said                     bytes.Buffer // the rest of its standard error
}

// start starts a program, or cpprof, which launches it.
func start(cmd *exec.Cmd) (*victim, error) {
	v := &victim{}
	v.pid = func() int { return cmd.Process.Pid }
	var err error
	if v.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = echo{v}, answers{v}
	if v.process, err = launch(cmd); err != nil {
		return nil, err
	}
	return v, v.await("the program begins", func() bool { return v.begun.Load() > 0 })
}

type echo struct{ v *victim }

func (e echo) Write(p []byte) (int, error) {
	e.v.backBytes.Add(int64(len(p)))
	return len(p), nil
}

type answers struct{ v *victim }

func (a answers) Write(p []byte) (int, error) {
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	for _, c := range p {
		switch c {
		case 1:
			a.v.begun.Add(1)
		case 2:
			a.v.worked.Add(1)
		case 6:
			a.v.backSignals.Add(1)
		default:
			a.v.said.WriteByte(c)
		}
	}
	return len(p), nil
}

func (v *victim) saying() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.said.String()
}

func (v *victim) await(what string, ok func() bool) error { return v.awaitFor(*patience, what, ok) }

func (v *victim) awaitFor(patience time.Duration, what string, ok func() bool) error {
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if v.over() {
			return fmt.Errorf("not before the program ended: %s: %s", what, v.saying())
		}
		if time.Now().After(end) {
			return fmt.Errorf("not within %v: %s\n%s", patience, what, stuck(v.pid()))
		}
	}
	return nil
}

// feed sends bytes and signals until stop is closed. A signal is
// sent when the one before was answered: two that are pending
// would be one.
func (v *victim) feed(stop <-chan bool) {
	block := make([]byte, 10_000)
	for {
		select {
		case <-stop:
			return
		default:
		}
		if v.sentBytes.Load() == v.backBytes.Load() {
			n, _ := v.in.Write(block)
			v.sentBytes.Add(int64(n))
		}
		if v.sentSignals.Load() == v.backSignals.Load() && syscall.Kill(v.pid(), syscall.SIGUSR1) == nil {
			v.sentSignals.Add(1)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// lives makes sure that nobody traces or stops the program any
// more, that it answers all that it was sent, and that it is as
// fast as one that nobody recorded.
func (v *victim) lives() error {
	if err := v.await("no thread is traced or stopped", func() bool { return stuck(v.pid()) == "" }); err != nil {
		return err
	}
	answered := func() bool {
		return v.sentBytes.Load() == v.backBytes.Load() && v.sentSignals.Load() == v.backSignals.Load()
	}
	if err := v.await("the program has answered everything", answered); err != nil {
		return err
	}
	control, err := v.alike()
	if err != nil {
		return err
	}
	defer control.kill()
	var mine, its int64
	fast := func() bool {
		mine, its = v.worked.Load(), control.worked.Load()
		time.Sleep(50 * time.Millisecond)
		mine, its = v.worked.Load()-mine, control.worked.Load()-its
		return mine > 0 && its > 0 && mine >= its/2
	}
	if err := v.await("the program is as fast as one that nobody recorded", fast); err != nil {
		return fmt.Errorf("%w (%d pieces of work, the other one %d)", err, mine, its)
	}
	return nil
}

// changed returns an error if the code of the program differs
// from its file.
func (v *victim) changed() error {
	places, err := fixture.ChangedCode(v.pid())
	if err == nil && len(places) > 0 {
		err = fmt.Errorf("%d places of the code are changed: %#x", len(places), places)
	}
	return err
}

// unchanged makes sure that the program lives, and has the code
// of its file.
func (v *victim) unchanged() error {
	same := func() bool { return v.changed() == nil }
	if err := v.await("the program's code is that of the file", same); err != nil {
		return errors.Join(err, v.changed())
	}
	return v.lives()
}

// kill ends the program, and whoever launched it.
func (v *victim) kill() {
	if !v.over() {
		syscall.Kill(v.pid(), syscall.SIGKILL)
		v.cmd.Process.Kill()
		v.in.Close()
	}
	<-v.ctx.Done()
}

// crashed waits until the program has ended as one that panics.
func (v *victim) crashed() error {
	select {
	case <-v.ctx.Done():
		var exit *exec.ExitError
		if !errors.As(v.err, &exit) || exit.ExitCode() != 2 {
			return fmt.Errorf("the program did not crash, but ended: %v", v.err)
		}
		return nil
	case <-time.After(*patience):
		return fmt.Errorf("the program does not crash:\n%s", stuck(v.pid()))
	}
}
