//go:build linux && (amd64 || arm64)

package halt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

func open(t *testing.T, g *target) *Process {
	t.Helper()
	p, err := Open(g.Process.Pid)
	for end := time.Now().Add(time.Minute); errors.Is(err, os.ErrNotExist) && time.Now().Before(end); {
		p, err = Open(g.Process.Pid) // a process that is just executing another program can't be opened for a moment
	}
	if errors.Is(err, os.ErrPermission) {
		t.Skipf("this machine does not permit it: %v", err)
	}
	fixture.Check(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

// haltOften halts a target until n halts have succeeded. It
// returns how many threads were owed a detach after a halt.
func haltOften(t *testing.T, p *Process, n int) (owed int) {
	t.Helper()
	var took []time.Duration
	failed, late := 0, 0
	for end := time.Now().Add(time.Minute); len(took) < n; {
		h, err := haltAll(p)
		if err != nil {
			failed++
		} else {
			took = append(took, h.Took)
			owed += h.Owed
			late += h.Late
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d halts succeeded, the last error was %v", len(took), len(took)+failed, err)
		}
		time.Sleep(200 * time.Microsecond)
	}
	slices.Sort(took)
	t.Logf("halt: median %v, longest %v, failed %d, late threads %d", took[len(took)/2], took[len(took)-1], failed, late)
	return owed
}

func TestHalt(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	haltOften(t, p, 200)
	g.line()
	g.free()

	var stopped string
	late, halted := map[int]bool{}, 0
	readStack := func(th Thread) {
		var word [8]byte
		if err := p.Read(th.SP, word[:]); err != nil {
			t.Errorf("stack of thread %d: %v", th.TID, err)
		}
		if th.Late {
			t.Errorf("thread %d has stopped, but is still reported as late", th.TID)
		}
		delete(late, th.TID)
	}
	_, err := p.Halt(0, time.Minute, func(h *Halted) error {
		threads, err := allThreads(p, h)
		if tids, _ := p.Threads(); len(threads) != len(tids) {
			t.Errorf("%d of %d threads halted", len(threads), len(tids))
		}
		for _, th := range threads {
			if th.Late {
				late[th.TID] = true
			} else {
				halted++
				readStack(th)
			}
		}
		stopped = g.threads()
		return err
	}, readStack)
	fixture.Check(t, err)
	if n := strings.Count(stopped, "tracing stop"); n < halted {
		t.Errorf("%d threads are halted, not %d:\n%s", n, halted, stopped)
	}
	if len(late) > 0 {
		t.Errorf("%d late threads were never passed to the function for them", len(late))
	}
	g.free()
}

// On an overloaded machine, a thread that waits for a CPU does
// not keep the others halted. It does nothing while it is late,
// and its registers are read in the end.
func TestLate(t *testing.T) {
	t.Run("told", func(t *testing.T) { awaitLateThreads(t, func(*worker) {}) })
	t.Run("polled", func(t *testing.T) { awaitLateThreads(t, func(w *worker) { w.alarm.works = false }) })
}

func awaitLateThreads(t *testing.T, change func(*worker)) {
	g := start(t, "count")
	p := open(t, g)
	w := fixture.Must(p.worker())(t)
	if !w.alarm.works {
		t.Fatal("there is no alarm")
	}
	change(w)
	at := fixture.Must(strconv.ParseUint(g.line(), 0, 64))(t)
	for range 2 * runtime.NumCPU() {
		start(t, "spin")
	}
	count := func() (n [counters]uint64) {
		if err := p.Read(at, unsafe.Slice((*byte)(unsafe.Pointer(&n)), unsafe.Sizeof(n))); err != nil {
			t.Error(err)
		}
		return n
	}
	late, given, now := 0, 0, 0
	for end := time.Now().Add(time.Minute); given < 20 && time.Now().Before(end); {
		_, err := p.Halt(0, time.Second, func(h *Halted) error {
			threads, err := allThreads(p, h)
			now = 0
			for _, th := range threads {
				if th.Late {
					now++
				}
			}
			late += now
			before := count()
			pause(1000) // time for a thread that was not halted to count on
			if after := count(); after != before {
				t.Errorf("the counters of a halted program changed from %v to %v", before, after)
			}
			return err
		}, func(th Thread) {
			given++
			all := g.threads()
			if traced := strings.Count(all, "TracerPid:") - strings.Count(all, "TracerPid:\t0 "); traced > now {
				t.Errorf("%d threads are held while %d are late:\n%s", traced, now, all)
			}
			now--
			var word [8]byte
			if err := p.Read(th.SP, word[:]); err != nil {
				t.Errorf("stack of thread %d: %v", th.TID, err)
			}
		})
		fixture.Check(t, err)
		time.Sleep(time.Millisecond)
	}
	t.Logf("%d threads were late", late)
	if given == 0 {
		t.Error("no thread was late")
	}
	g.free()
}

func TestHaltError(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	mine := errors.New("mine")
	_, err := p.Halt(0, time.Second, func(h *Halted) error {
		h.Threads([]int{p.PID()})
		return mine
	}, nil)
	if err != mine {
		t.Errorf("got %v", err)
	}
	g.free()
	if h, err := p.Halt(0, time.Second, func(*Halted) error { return nil }, nil); err != nil || h.Took != 0 {
		t.Errorf("a halt of nothing: %v, %v", h, err)
	}
}

// A halt that lasts too long is ended, whatever its function
// still wants to do.
func TestHaltTooLong(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	p.LimitHalts(time.Millisecond)
	var word [8]byte
	read := func(h *Halted) int {
		return h.Reader().ReadRanges([]memory.Range{{Addr: uint64(p.probe), Buf: word[:]}})
	}
	for _, longest := range []time.Duration{0, time.Millisecond} {
		halt, err := p.Halt(longest, time.Minute, func(h *Halted) error {
			if _, err := h.Threads([]int{p.PID()}); err != nil {
				t.Error(err)
			}
			for range 1000 { // what takes long; without a bound of its own, halting isn't counted
				if pause(2000); h.reader.isOver() {
					break
				}
			}
			if failed := read(h); failed != 1 {
				t.Error("memory was read after the halt should have ended")
			}
			if threads, err := allThreads(p, h); err != ErrLong || len(threads) > 1 {
				t.Errorf("%d threads were halted after the halt should have ended: %v", len(threads), err)
			}
			return nil
		}, func(Thread) {})
		if err != ErrLong || halt.Took < time.Millisecond {
			t.Errorf("a halt of %v: %v, want %v", halt.Took, err, ErrLong)
		}
		g.free()
		p.LimitHalts(time.Minute)
	}

	_, err := p.Halt(0, time.Minute, func(h *Halted) error {
		if _, err := allThreads(p, h); err != nil {
			t.Error(err)
		}
		if failed := read(h); failed != 0 {
			t.Error("memory could not be read")
		}
		return nil
	}, func(Thread) {})
	if err != nil {
		t.Errorf("the next halt: %v", err)
	}
	g.free()
}

// Without precautions, attaching to a program that executes another one deadlocks both.
func TestExec(t *testing.T) {
	g := start(t, "exec")
	executed, want := 0, 50
	for end := time.Now().Add(time.Minute); executed < want && time.Now().Before(end); {
		select {
		case <-g.lines:
			executed++
		default:
		}
		p, err := Open(g.Process.Pid)
		if err != nil {
			continue // its address space is just being replaced
		}
		for range 20 {
			if _, err = haltAll(p); errors.Is(err, ErrExec) {
				break
			} else if errors.Is(err, ErrEnded) && p.Check() != ErrExec {
				t.Fatalf("the target is reported to have ended: %v, %v\n%s", err, p.Check(), g.threads())
			}
		}
		p.Close()
	}
	if executed < want {
		t.Errorf("the target executed itself only %d times:\n%s", executed, g.threads())
	}
	g.line()
	g.line()
}

// A single Process, and so a single tracing thread, meets one
// exec after the other. Each time it returns ErrExec and leaves
// nothing traced.
func TestExecOnce(t *testing.T) {
	for range 20 {
		g := start(t, "exec")
		p := open(t, g)
		for p.Check() == nil {
			haltAll(p)
		}
		if err := p.Check(); err != ErrExec {
			t.Errorf("got %v, want %v", err, ErrExec)
		}
		if _, err := haltAll(p); err != ErrExec {
			t.Errorf("got %v, want %v", err, ErrExec)
		}
		g.line()
		g.line()
		g.Process.Kill()
	}
}

func TestChurn(t *testing.T) {
	g := start(t, "churn")
	haltOften(t, open(t, g), 300)
	g.line()
	g.free()
}

// A thread in an uninterruptible sleep neither prolongs halts
// until it wakes nor makes them fail.
func TestUninterruptible(t *testing.T) {
	g := start(t, "vfork")
	if haltOften(t, open(t, g), 200) == 0 {
		t.Error("the thread never slept")
	}
	g.line()
	g.line()
	g.free()
}

// After Release nothing is traced, even if a thread sleeps in
// the kernel and has not stopped yet. Halts work afterwards.
func TestRelease(t *testing.T) {
	g := start(t, "vfork")
	p := open(t, g)
	for owed, tries := 0, 0; owed < 20; tries++ {
		if tries == 2000 {
			t.Fatalf("after %d halts only %d had left a sleeping thread", tries, owed)
		}
		halt := fixture.Must(haltAll(p))(t)
		if halt.Owed == 0 {
			continue
		}
		owed++
		fixture.Check(t, p.Release())
		for line := range strings.Lines(g.threads()) {
			if !strings.Contains(line, "TracerPid:\t0") {
				t.Fatalf("still traced: %s", line)
			}
		}
	}
	g.line()
	g.line()
	g.free()
}

// The target is stopped and continued at random. It ends up as
// the last of these signals left it.
func TestStopContinue(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	var signals sync.WaitGroup
	for range 150 {
		sig := []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT}[rand.IntN(2)]
		signals.Go(func() { g.Process.Signal(sig) })
		fixture.Must(haltAll(p))(t)
	}
	signals.Wait()
	g.Process.Signal(syscall.SIGSTOP)
	g.stopped()
	fixture.Must(haltAll(p))(t)
	g.stopped() // after the detach it runs for a moment before it stops again
	g.Process.Signal(syscall.SIGCONT)
	for range 50 {
		g.line()
	}
	g.free()
}

// Signals that arrive during a halt are delivered.
func TestSignals(t *testing.T) {
	g := start(t, "signals")
	p := open(t, g)
	end := make(chan bool)
	go func() {
		defer close(end)
		for range 500 {
			g.Process.Signal(syscall.SIGUSR1)
			if g.line() != "signal" {
				t.Error("no signal")
			}
		}
	}()
	for n := 0; ; n++ {
		select {
		case <-end:
			t.Logf("%d halts", n)
			return
		default:
			haltAll(p)
		}
	}
}

func TestKilled(t *testing.T) {
	for range 30 {
		g := start(t, "spin")
		p := open(t, g)
		time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { g.Process.Kill() })
		for p.Check() == nil {
			haltAll(p)
		}
		if _, err := haltAll(p); err != ErrEnded {
			t.Errorf("got %v, want %v", err, ErrEnded)
		}
		if err := g.Cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("waiting for the target returned %v", err)
		}
	}
}

// The target goes on when a sampler is killed, whenever that happens.
func TestSamplerKilled(t *testing.T) {
	g := start(t, "spin")
	open(t, g) // skips the test if this machine doesn't permit it
	for range 30 {
		s := start(t, "sampler:"+strconv.Itoa(g.Process.Pid))
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		s.Process.Kill()
		s.Cmd.Wait()
		g.free()
		g.line()
	}
}

// A process that another sampler halts, too, is halted all the
// same: each waits for the other, and if that takes too long,
// the error does not speak of permissions.
func TestTwoSamplers(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	start(t, "sampler:"+strconv.Itoa(g.Process.Pid))
	halts, refused := 0, 0
	for range 300 {
		halt, err := haltAll(p)
		switch {
		case err == nil && halt.Threads > 0:
			halts++
		case err != nil && !strings.Contains(err.Error(), "trace"), errors.Is(err, os.ErrPermission):
			t.Fatal(err)
		default:
			refused++
		}
	}
	t.Logf("%d halts, %d refused", halts, refused)
	if halts == 0 {
		t.Error("the process was never halted")
	}
	g.line()
}

// When a process has been opened, there is room for the files
// that halts open.
func TestRoomForFiles(t *testing.T) {
	var limit unix.Rlimit
	fixture.Check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	if limit.Cur < room {
		t.Skipf("only %d files may be open", limit.Cur)
	}
	f := fixture.Must(OpenFile("/proc/self/stat"))(t)
	defer f.Close()
	f.makeRoom()
	if size := statusField("/proc/self/status", "FDSize"); size < room {
		t.Errorf("room for %d files, want %d", size, room)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(1 << 30); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a process that isn't there: %v", err)
	}
}

func TestReadRanges(t *testing.T) {
	p, err := Open(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	src := make([]byte, 5000)
	for i := range src {
		src[i] = byte(i)
	}
	at := uint64(uintptr(unsafe.Pointer(&src[0])))
	var a memory.Arena
	for _, n := range []int{0, 1, 5, 1024, 1025, 3000} {
		a.Reset()
		rs := make([]memory.Range, n)
		failed := 0
		for i := range rs {
			rs[i] = memory.Range{Addr: at + uint64(i), Buf: a.Get(i % 100)}
			if i%7 == 3 && len(rs[i].Buf) > 0 {
				rs[i].Addr = 8 // nothing is mapped there
				failed++
			}
		}
		if got := p.NewReader().ReadRanges(rs); got != failed {
			t.Errorf("of %d ranges %d failed, want %d", n, got, failed)
		}
		for i, r := range rs {
			want := src[i : i+i%100]
			if i%7 == 3 {
				want = nil
			}
			if !bytes.Equal(r.Buf, want) {
				t.Fatalf("range %d of %d: got %v, want %v", i, n, r.Buf, want)
			}
		}
	}
}

// startSilent starts a program with a page that never answers,
// and returns the address of that page.
func startSilent(t *testing.T, page string) (*fixture.Running, uint64) {
	t.Helper()
	target := fixture.Start(t, fixture.Build(t, "silent"), page, filepath.Join(t.TempDir(), "mount"))
	text, _, ok := strings.Cut(target.Line, ",")
	at, err := strconv.ParseUint(text, 0, 64)
	if !ok || err != nil {
		t.Skipf("there can be no such page here: %s", target.Line)
	}
	return target, at
}

// A page that never answers costs a read nothing but the bytes
// from that page on.
func TestReadSilentPage(t *testing.T) {
	for _, page := range []string{"userfaultfd", "fuse"} {
		t.Run(page, func(t *testing.T) {
			target, silent := startSilent(t, page)
			p, err := Open(target.Pid())
			if err != nil {
				t.Skipf("this machine does not permit it: %v", err)
			}
			defer p.Close()
			there := uint64(p.probe)
			ranges := func() []memory.Range {
				return []memory.Range{{Addr: there, Buf: make([]byte, 8)}, {Addr: silent, Buf: make([]byte, 8)}, {Addr: there, Buf: make([]byte, 8)}}
			}
			check := func(rs []memory.Range, failed int) {
				if failed != 1 || len(rs[0].Buf) != 8 || len(rs[1].Buf) != 0 || len(rs[2].Buf) != 8 || !bytes.Equal(rs[0].Buf, rs[2].Buf) || rs[0].Buf[0] == 0 {
					t.Errorf("%d failed: %v", failed, rs)
				}
			}
			rs := ranges()
			check(rs, p.NewReader().ReadRanges(rs))
			tids := fixture.Must(p.Threads())(t)
			if _, err := p.Halt(0, time.Second, func(h *Halted) error {
				_, err := h.Threads(tids)
				rs = ranges()
				check(rs, h.Reader().ReadRanges(rs))
				return err
			}, func(Thread) {}); err != nil {
				t.Error(err)
			}
			if err := p.Read(silent, make([]byte, 8)); !errors.Is(err, errUnanswered) {
				t.Errorf("the error is %v", err)
			}
			if n := p.Unanswered(); n != 3 {
				t.Errorf("%d reads were left out", n)
			}
			target.Lives(t)
		})
	}
}

// The pages of a program that has ended are gone: nobody is
// asked for them.
func TestReadOfEnded(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	p.mappings.renew(p)
	p.mappings.next = time.Now().Add(time.Hour)
	g.Process.Kill()
	g.Process.Wait()
	for _, m := range *p.mappings.list.Load() {
		if err := p.Read(m.start, make([]byte, 8)); err == nil || errors.Is(err, errUnanswered) {
			t.Errorf("reading a mapping of kind %d: %v", m.kind, err)
		}
	}
	if n := p.Unanswered(); n != 0 {
		t.Errorf("%d reads count as unanswered", n)
	}
}

// If a read in a halt never returns, the kernel ends the
// sampler, and so lets the program go.
func TestStuckHalt(t *testing.T) {
	target, page := startSilent(t, "userfaultfd")
	s := start(t, fmt.Sprintf("stuck:%d:%d", target.Pid(), page))
	for line := range s.lines {
		t.Errorf("the sampler says %q", line)
	}
	err := s.Wait()
	if status, ok := s.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("the sampler ended with %v", err)
	}
	target.Lives(t)
}

// A read that never returns is known to be stuck, until the program ends.
func TestStuckRead(t *testing.T) {
	target, page := startSilent(t, "userfaultfd")
	p, err := Open(target.Pid())
	if err != nil {
		t.Skipf("this machine does not permit it: %v", err)
	}
	defer p.Close()
	if pid := Stuck(time.Millisecond); pid != 0 {
		t.Errorf("%d is stuck", pid)
	}
	done := make(chan bool)
	go func() {
		p.readOnce(page, make([]byte, 8))
		close(done)
	}()
	for Stuck(10*time.Millisecond) != target.Pid() {
	}
	runtime.GC() // does not wait for it
	target.Process.Kill()
	<-done
	if pid := Stuck(time.Millisecond); pid != 0 {
		t.Errorf("%d is still stuck", pid)
	}
}
