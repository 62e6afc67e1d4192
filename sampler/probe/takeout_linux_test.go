//go:build linux && (amd64 || arm64)

package probe

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestMethods takes instruments out that were put in by each
// method, also while another tool has some at the same places.
func TestMethods(t *testing.T) {
	t.Parallel()
	g := start(t, "recursive", "20")
	g.probe(t, "main.descend", Options{}).Close() // or the test is skipped
	f := fixture.Must(g.program.Function("main.descend"))(t)
	for _, m := range methods {
		u, err := openMethod(g.program, m)
		if err != nil {
			t.Logf("%+v: %v", m, err)
			continue
		}
		if u.attach([]uint64{f.Entry}) != nil || u.attach(f.Returns) != nil {
			t.Fatalf("%+v: can't attach", m)
		}
		other, err := openMethod(g.program, method{})
		if err != nil || other.attach(f.Returns) != nil {
			t.Fatal(err)
		}
		if n := len(g.changed(t)); n != 1+len(f.Returns) {
			t.Errorf("%+v: %d places are changed", m, n)
		}
		if left, sure := u.takeOut(func(int) {}); len(left) > 0 || !sure {
			t.Errorf("%+v: %#x left, sure: %v", m, left, sure)
		}
		if n := len(g.changed(t)); n != len(f.Returns) {
			t.Errorf("%+v: %d places are changed, want those of the other tool", m, n)
		}
		if left, _ := other.takeOut(func(int) {}); len(left) > 0 || len(g.changed(t)) > 0 {
			t.Errorf("%+v: %#x left at the end", m, left)
		}
		if err := u.attach(f.Returns); err == nil {
			t.Errorf("%+v: something was put in after all was taken out", m)
		}
		u.close()
		other.close()
	}
}

func (g *target) changed(t *testing.T) []uint64 {
	t.Helper()
	return fixture.Must(fixture.ChangedCode(g.Pid()))(t)
}

// TestLeftBreakpointsAreRepaired lets a process end while the
// kernel takes its instruments out, so that some are left. A
// later removal works.
func TestLeftBreakpointsAreRepaired(t *testing.T) {
	if pid := os.Getenv("CPPROF_LEAVE_BREAKPOINTS"); pid != "" {
		leaveBreakpoints(t, pid)
	}
	g := start(t, "recursive", "3")
	g.probe(t, "main.descend", Options{}).Close() // or the test is skipped
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeftBreakpointsAreRepaired$")
	cmd.Env = append(os.Environ(), "CPPROF_LEAVE_BREAKPOINTS="+strconv.Itoa(g.Pid()))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	before := g.changed(t)
	if len(before) == 0 {
		t.Fatal("no breakpoint is left")
	}
	u := fixture.Must(openUprobes(g.program))(t)
	defer u.close()
	for _, pc := range before {
		fixture.Must(u.site(pc))(t)
	}
	left, sure := u.takeOut(func(int) {})
	if after := g.changed(t); len(left) > 0 || len(after) > 0 || !sure {
		t.Errorf("of %#x, %#x are left; it says %#x (sure: %v)", before, after, left, sure)
	}
	if got := g.run(t)[0]; got != 15 {
		t.Errorf("the program made %d calls after that, want 15", got)
	}
}

// leaveBreakpoints ends this process in the midst of removals.
func leaveBreakpoints(t *testing.T, pid string) {
	n, _ := strconv.Atoi(pid)
	p := fixture.Must(OpenPID(n))(t)
	f := fixture.Must(p.Function("main.descend"))(t)
	u := fixture.Must(openMethod(p, method{}))(t)
	for _, pc := range append(f.Returns, f.Entry) {
		fixture.Check(t, u.attach([]uint64{pc}))
	}
	for _, group := range u.in {
		go group.takeOut()
	}
	time.Sleep(10 * time.Millisecond)
	os.Exit(0)
}

// TestCloseAllAwaitsCalibration ends processes while they
// measure on themselves what instruments cost. None may have an
// instrument left: the kernel could not take it out of an ending
// process.
func TestCloseAllAwaitsCalibration(t *testing.T) {
	const variable = "CPPROF_END_CALIBRATION"
	if after, err := time.ParseDuration(os.Getenv(variable)); err == nil {
		endCalibration(t, after)
	}
	g := start(t, "recursive", "3")
	g.probe(t, "main.descend", Options{}).Close() // or the test is skipped
	var running sync.WaitGroup
	for after := range 8 {
		running.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCloseAllAwaitsCalibration$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%dms", variable, 10*after))
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("ended after %d ms: %v: %s", 10*after, err, said)
			}
		})
	}
	running.Wait()
}

// endCalibration begins to open sets, closes all after a while, and ends.
func endCalibration(t *testing.T, after time.Duration) {
	self := fixture.Must(own())(t)
	go func() {
		for {
			_, _, _ = open(self.program, []Function{self.function}, Options{Clock: func() time.Duration { return 0 }})
		}
	}()
	time.Sleep(after)
	fixture.Check(t, CloseAll())
	code := fixture.Must(openImage(self.program))(t)
	if left := code.left(append(self.function.Returns, self.function.Entry)); len(left) > 0 {
		t.Fatalf("%#x are left", left)
	}
	os.Exit(0)
}
