//go:build linux && (amd64 || arm64)

package halt

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The test binary is its own target: with this variable set it
// plays the part that the variable names.
const partEnv = "CPPROF_HALT_PART"

func TestMain(m *testing.M) {
	if part := os.Getenv(partEnv); part != "" {
		play(part)
	}
	fixture.Main(m)
}

// parts maps the name of a part to what the target does. Each
// part prints a line when it makes progress; most never return.
var parts = map[string]func(arg string){
	"spin": func(string) {
		spinThrice()
		printLines(time.Millisecond)
	},
	"count": func(string) {
		countForever()
		printLines(time.Second)
	},
	"sleep":   func(string) { printLines(time.Hour) },
	"sleeps":  func(string) { sleepFiltered() },
	"exec":    func(string) { execItself() },
	"churn":   func(string) { churnThreads() },
	"vfork":   func(string) { vforkForever() },
	"signals": func(string) { awaitSignals() },
	"sampler": haltForever,
	"stuck":   haltStuck,
}

func play(part string) {
	name, arg, _ := strings.Cut(part, ":")
	parts[name](arg)
	os.Exit(0)
}

func spinThrice() {
	for range 3 {
		go spin()
	}
}

// countForever starts threads that each increment a counter of
// their own and never stop.
func countForever() {
	fmt.Printf("ready\n%#x\n", uintptr(unsafe.Pointer(&counts)))
	for i := range counters {
		go func() {
			for {
				atomic.AddUint64(&counts[i], 1)
			}
		}()
	}
}

// execItself executes the test binary again while several of its threads run.
func execItself() {
	spinThrice()
	for range 4 {
		go func() {
			runtime.LockOSThread()
			time.Sleep(time.Hour)
		}()
	}
	fmt.Println("executed")
	time.Sleep(2 * time.Millisecond)
	go func() { panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ())) }()
	select {}
}

// churnThreads starts and ends threads all the time.
func churnThreads() {
	for range 2 {
		go func() {
			for {
				done := make(chan bool)
				go func() {
					runtime.LockOSThread() // so that the thread ends with the goroutine
					done <- true
				}()
				<-done
			}
		}()
	}
	printLines(time.Millisecond)
}

// vforkForever has a thread that waits, in an uninterruptible
// sleep, for one child after the other.
func vforkForever() {
	go spin()
	runtime.LockOSThread()
	for {
		fmt.Println("on")
		pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, syscall.CLONE_VFORK|uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if pid == 0 {
			ts := syscall.Timespec{Nsec: 50_000_000}
			syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
			syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
		}
		syscall.Wait4(int(pid), nil, 0, nil)
	}
}

func awaitSignals() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	go spin()
	fmt.Println("ready")
	for range c {
		fmt.Println("signal")
	}
}

// haltForever repeatedly halts the process whose id is the argument.
func haltForever(arg string) {
	pid, _ := strconv.Atoi(arg)
	p, err := Open(pid)
	if err != nil {
		panic(err)
	}
	fmt.Println("opened")
	for {
		haltAll(p)
	}
}

// haltStuck halts a process and reads a page that never answers,
// as if it had been there a moment before.
func haltStuck(arg string) {
	var pid int
	var page uint64
	fmt.Sscanf(arg, "%d:%d", &pid, &page)
	p, err := Open(pid)
	if err != nil {
		panic(err)
	}
	longestHalt = 500 * time.Millisecond
	fmt.Println("opened")
	p.Halt(0, time.Second, func(h *Halted) error {
		if _, err := allThreads(p, h); err != nil {
			return err
		}
		_, err := p.readOnce(page, make([]byte, 8))
		return err
	}, func(Thread) {})
	fmt.Println("halted")
}

// counters is the number of threads that count.
const counters = 3

var counts [counters]uint64

func spin() {
	for i := 0; ; i++ {
		if i%1000 == 0 {
			runtime.Gosched()
		}
	}
}

func printLines(every time.Duration) {
	for {
		fmt.Println("on")
		time.Sleep(every)
	}
}

// haltAll halts every thread of a process. Sampling halts far fewer.
func haltAll(p *Process) (Halt, error) {
	return p.Halt(0, time.Second, func(h *Halted) error {
		_, err := allThreads(p, h)
		return err
	}, func(Thread) {})
}

// allThreads halts the threads of a process until no new ones appear.
func allThreads(p *Process, h *Halted) ([]Thread, error) {
	for n := -1; ; {
		tids, err := p.Threads()
		if err != nil {
			return nil, err
		}
		threads, err := h.Threads(tids)
		if err != nil || len(threads) == n {
			return threads, err
		}
		n = len(threads)
	}
}

// A target is a process that plays a part.
type target struct {
	*exec.Cmd
	t     *testing.T
	lines chan string
}

func start(t *testing.T, part string) *target {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.Env = append(os.Environ(), partEnv+"="+part)
	cmd.Stderr = os.Stderr
	out := fixture.Must(cmd.StdoutPipe())(t)
	fixture.Check(t, cmd.Start())
	g := &target{cmd, t, make(chan string)}
	go func() {
		defer close(g.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			g.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		for range g.lines {
		}
		cmd.Wait()
	})
	g.line()
	return g
}

// line returns the target's next line, which shows that the
// target makes progress.
func (g *target) line() string {
	g.t.Helper()
	select {
	case l, ok := <-g.lines:
		if !ok {
			g.t.Fatal("the target has ended")
		}
		return l
	case <-time.After(time.Minute):
		g.t.Fatalf("the target makes no progress:\n%s", g.threads())
	}
	return ""
}

// threads returns the state of each thread, one a line.
func (g *target) threads() string {
	var b strings.Builder
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", g.Process.Pid))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for line := range strings.Lines(string(text)) {
			switch name, _, _ := strings.Cut(line, ":"); name {
			case "Pid", "State", "TracerPid":
				b.WriteString(strings.TrimSpace(line) + "  ")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stopped waits until the target is stopped by a signal.
func (g *target) stopped() {
	g.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		st, err := ReadStat(g.Process.Pid)
		if err == nil && st.State == 'T' {
			return
		}
		if err != nil || time.Now().After(end) {
			g.t.Fatalf("not stopped: %c, %v", st.State, err)
		}
	}
}

// free fails the test if any thread of the target stays traced or stopped.
func (g *target) free() {
	g.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		s := g.threads()
		bad := strings.Contains(s, "tracing stop") || strings.Contains(s, "T (stopped)")
		for line := range strings.Lines(s) {
			bad = bad || !strings.Contains(line, "TracerPid:\t0")
		}
		if !bad {
			return
		}
		if time.Now().After(end) {
			g.t.Fatalf("some threads are still traced or stopped:\n%s", s)
		}
	}
}
