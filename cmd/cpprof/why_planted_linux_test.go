package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/why"
)

// A planted cause is why one of testdata/programs/planted is slow.
type planted struct {
	name  string
	kind  why.Kind
	where []string // the function of the first finding, or of what it refers to
	says  string   // in the words of the findings, one of these: "a|b"
	waits bool     // it hardly needs the processors

	or why.Kind // as true, since the machine decides; "" is none
}

var allPlanted = []planted{
	{"lock", why.LockKind, []string{"main.(*journal).add"}, "go:main.flusher holds it, in main.(*journal).flush", true, ""},
	{"queue", why.ComputeKind, []string{"main.(*queue).push"}, "go:main.intake", false, ""},
	{"encoder", why.ComputeKind, []string{"main.(*feed).encode"}, "main.(*feed).trace", false, ""},
	{"runnable", why.ProcessorKind, []string{"main.spin", "main.burner"}, "More goroutines are ready to run than processors", false, why.ComputeKind},
	{"allocation", why.AllocationKind, []string{"main.parse"}, "go:main.parser", false, ""},
	{"pipeline", why.ComputeKind, []string{"main.spin", "main.transform"}, "go:main.producer", false, ""},
	{"leak", why.StuckKind, []string{"main.answer"}, "are stuck for good", true, ""},
	{"pool", why.ChannelKind, []string{"main.(*pool).get"}, "main.query", true, ""},
	{"assist", why.AllocationKind, []string{"main.replace"}, "assisting the collector", false, ""},
	{"syscall", why.SystemCallKind, []string{"main.logLine"}, "system calls", false, ""},
	{"straggler", why.ComputeKind, []string{"main.spin", "main.merge"}, "the label shard=7 have", false, ""},
	{"far", why.IOKind, []string{"main.asker"}, "go:main.asker", true, ""},
	{"answers", why.SleepKind, []string{"main.askOverHTTP.func1"}, "it sleeps: perhaps it retries", true, ""}, // of its own handlers
	{"rare", why.SlowKind, []string{"main.serveOne", "main.persist"}, "in main.persist|in os.(*File).Sync", false, why.BlockingKind},
	{"writer", why.ChannelKind, []string{"main.(*ledger).add"}, "go:main.slowWriter.func1 (8.0 goroutines)", true, ""},
	{"retry", why.SleepKind, []string{"main.(*cluster).acquireSocket"}, "go:main.client", true, ""},
	{"retrylock", why.SleepKind, []string{"main.(*retryLock).lockLoop"}, "main.(*retryLock).Lock takes a lock", true, ""},
	{"spin", why.SpinKind, []string{"main.await"}, "it spins", false, ""},
	{"writers", why.LockKind, []string{"main.(*table).update", "main.(*table).scan"}, "readers", true, ""},
	{"log", why.LockKind, []string{"main.(*till).sell"}, "a message is logged while the lock is held", true, ""},
	{"timers", why.MakingKind, []string{"main.next"}, "timers", false, ""},
	{"defer", why.MakingKind, []string{"main.visitAll"}, "deferring calls", false, why.ComputeKind},
	{"emptypool", why.MakingKind, []string{"main.newBuffer"}, "a sync.Pool did not have", false, why.AllocationKind},
	{"finalizers", why.FinalizerKind, []string{"main.(*object).finalize"}, "one goroutine runs all finalizers", true, ""},
	{"dns", why.MakingKind, []string{"main.call"}, "looking up addresses", false, ""},
	{"handshakes", why.MakingKind, []string{"main.dial"}, "TLS handshakes", true, ""},
}

// TestWhyFindsPlantedCauses asks why programs are slow whose
// cause is known (testdata/programs/planted). The first finding
// must be the cause, with its place; the healthy twin of each
// must have no finding.
func TestWhyFindsPlantedCausesLong(t *testing.T) {
	fixture.Long(t) // it samples 54 programs for some seconds each
	chosen := fixture.Third(allPlanted)
	program := fixture.Build(t, "planted")
	needsTracing(t, fixture.Start(t, program, "lock", "healthy").Pid())
	quiet := newQuietOnes(t, program, chosen)
	for _, c := range chosen {
		t.Run(c.name, func(t *testing.T) {
			var ask *asked
			fixture.Measure(t, func(t testing.TB) {
				ask = quiet.take(t, c.name)
				c.check(t, ask)
				if c.name == "allocation" { // objects of 8 to 208 bytes
					if g := ask.Findings[0].Garbage; g == nil || g.Objects == 0 || g.Bytes/g.Objects < 20 || g.Bytes/g.Objects > 208 {
						t.Errorf("it allocates %+v", g)
					}
				}
			})
			sameNumbers(t, ask.file)
		})
	}
	measured := func(name string, test func(t testing.TB)) {
		t.Run(name, func(t *testing.T) { fixture.Measure(t, test) })
	}
	for _, c := range chosen {
		measured(c.name+" healthy", func(t testing.TB) {
			quiet.take(t, c.name+" healthy").isHealthy(t)
		})
	}
	for _, c := range fixture.Third(plantedBesides) {
		measured(c.name, func(t testing.TB) { c.test(t, program) })
	}
}

// plantedBesides are other tests of the same program: its causes
// depend on when and where it runs.
var plantedBesides = []struct {
	name string
	test func(t testing.TB, program string)
}{
	{"phase", func(t testing.TB, program string) {
		a := askPhase(t, program)
		c := planted{kind: why.ComputeKind, where: []string{"main.spin", "main.warmUp"}, says: "main.warmUp"}
		c.check(t, a)
		if f := a.findings(t)[0]; len(f.When.Spans) != 1 || f.When.Spans[0].To > a.To*9/10 {
			t.Errorf("it is true at %+v of %v, want a part before the end", f.When, a.To)
		}
		startAndAsk(t, program, "phase", "healthy").isHealthy(t)
	}},
	{"throttled", func(t testing.TB, program string) {
		target := fixture.Start(t, program, "runnable")
		limitCPU(t, target, 10) // less than it gets on a busy machine
		c := planted{kind: why.ThrottledKind, where: []string{"main.spin", "main.burner"}, says: "its limit is 0.1 CPUs"}
		c.check(t, askWhy(t, target.Pid()))
	}},
	{"throttled healthy", func(t testing.TB, program string) {
		target := fixture.Start(t, program, "runnable", "healthy")
		limitCPU(t, target, 200) // far more than it needs
		askWhy(t, target.Pid()).isHealthy(t)
	}},
}

// TestWhyFindsSomePlantedCauses is the same for the first cause.
func TestWhyFindsSomePlantedCauses(t *testing.T) {
	program := fixture.Build(t, "planted")
	for _, c := range allPlanted[:1] {
		t.Run(c.name, func(t *testing.T) {
			target := fixture.Start(t, program, c.name)
			needsTracing(t, target.Pid())
			c.check(t, askWhy(t, target.Pid()))
		})
	}
}

// isHealthy checks that nothing is slow. What the program's
// goroutines do between two pieces of work takes no time, so
// that samples may not show that they move.
func (a *asked) isHealthy(t testing.TB) {
	t.Helper()
	if f := a.findings(t); len(f) > 0 || !slices.Contains([]why.State{why.Idle, why.Balanced, why.Unmoved, why.Waiting}, a.State) {
		t.Errorf("it is %s:\n%s", a.State, a.text)
	}
}

// check compares an answer with the cause.
func (c *planted) check(t testing.TB, a *asked) {
	t.Helper()
	f := a.findings(t)
	switch {
	case c.kind == why.ProcessorKind && a.NoCPU > 1 && (len(f) == 0 || f[0].Kind != c.kind):
		t.Skipf("%.1f of the program's 2 threads wait for a CPU on average: the machine may be why goroutines are ready", a.NoCPU)
	case len(f) == 0:
		t.Fatalf("no finding; it is %s", a.State)
	case f[0].Kind != c.kind && f[0].Kind != c.or || !slices.Contains(c.where, f[0].Where.Function) || !c.isSaid(a.text):
		t.Errorf("the first finding is %s in %s, want %s in %v, and %q:\n%s", f[0].Kind, f[0].Where.Function, c.kind, c.where, c.says, a.text)
	}
}

func (c *planted) isSaid(text string) bool {
	return slices.ContainsFunc(strings.Split(c.says, "|"), func(s string) bool { return strings.Contains(text, s) })
}

// quietOnes are the answers for programs that hardly need the
// processors: the healthy ones, and those that wait. They are
// asked together.
type quietOnes struct {
	program string
	of      map[string]*asked
}

// atOnce is the number of quiet programs that are sampled at the
// same time.
const atOnce = 6

func newQuietOnes(t *testing.T, program string, causes []planted) quietOnes {
	q := quietOnes{program, map[string]*asked{}}
	var all [][]string
	for _, c := range causes {
		all = append(all, []string{c.name, "healthy"})
		if c.waits {
			all = append(all, []string{c.name})
		}
	}
	for group := range slices.Chunk(all, atOnce) {
		var done sync.WaitGroup
		for _, args := range group {
			target := fixture.Start(t, program, args...)
			a := &asked{}
			why := a.command(t, target.Pid())
			q.of[strings.Join(args, " ")] = a
			done.Go(func() {
				a.ask(why)
				target.Process.Kill()
			})
		}
		done.Wait()
	}
	return q
}

// take returns the answer for a program that was asked with the
// others, once. Any other program is asked alone.
func (q quietOnes) take(t testing.TB, args string) *asked {
	if a := q.of[args]; a != nil {
		delete(q.of, args)
		return a
	}
	return startAndAsk(t, q.program, strings.Fields(args)...)
}

func startAndAsk(t testing.TB, program string, args ...string) *asked {
	t.Helper()
	target := fixture.Start(t, program, args...)
	defer target.Process.Kill()
	return askWhy(t, target.Pid())
}

// An asked is an answer for a program, with its findings in words.
type asked struct {
	why.Answer
	text   string
	said   string // on stderr
	file   string // the recording
	failed error
}

// patience is how long why may search. It ends when it is sure.
const patience = "40s"

// command returns the command that asks why of a program.
func (a *asked) command(t testing.TB, pid int) *exec.Cmd {
	a.file = filepath.Join(t.TempDir(), "run.cpprof")
	return self(t, "why", "-d", patience, "--json", "-o", a.file, "-p", fmt.Sprint(pid))
}

func askWhy(t testing.TB, pid int) *asked {
	t.Helper()
	a := &asked{}
	a.ask(a.command(t, pid))
	return a
}

func (a *asked) ask(c *exec.Cmd) {
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	a.said = said.String()
	if err != nil {
		a.failed = fmt.Errorf("%w: %s", err, a.said)
		return
	}
	var answer struct {
		why.Answer
		Text []struct {
			Finding, Where, Who string
			Why                 []string
		}
	}
	if a.failed = json.Unmarshal(out, &answer); a.failed != nil {
		return
	}
	a.Answer = answer.Answer
	for i, f := range answer.Text {
		words := append([]string{f.Finding, f.Where, f.Who}, f.Why...)
		if i > 0 {
			words = []string{"then: " + f.Finding}
		}
		a.text += strings.Join(words, "\n") + "\n"
	}
}

// findings returns the findings. It skips the test if the
// machine was too busy for a search.
func (a *asked) findings(t testing.TB) []*why.Finding {
	t.Helper()
	if a.failed != nil {
		t.Fatal(a.failed)
	}
	if a.Samples < 30 {
		t.Skipf("only %d samples in %s: this machine is too busy", a.Samples, patience)
	}
	t.Logf("%d samples in %v", a.Samples, (a.To - a.From).Round(time.Millisecond))
	return a.Findings
}

// askPhase records the program that computes for a while after
// it has read a line, and asks why of the recording. Before and
// after that, it records as long as the program computes, and at
// least a second.
func askPhase(t testing.TB, program string) *asked {
	t.Helper()
	in, out, err := os.Pipe()
	fixture.Check(t, err)
	defer in.Close()
	defer out.Close()
	target := fixture.StartWith(t, exec.Command(program, "phase"), in)
	file := filepath.Join(t.TempDir(), "run.cpprof")
	record := self(t, "record", "--max-cpu", "0", "-o", file, "-p", fmt.Sprint(target.Pid()))
	fixture.Check(t, record.Start())
	for _, err := os.Stat(filepath.Join(file, "SampleData")); err != nil; _, err = os.Stat(filepath.Join(file, "SampleData")) {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(1200 * time.Millisecond) // in the first second, samples are fewer: cpprof still reads the program
	began := time.Now()
	fmt.Fprintln(out)
	fixture.Must(target.Out.ReadString('\n'))(t)
	if took := time.Since(began); took > 20*time.Second {
		t.Skipf("the program needed %v to compute for 0.7 s: this machine is too busy to see when", took.Round(time.Second))
	}
	time.Sleep(max(time.Second, time.Since(began)/2))
	record.Process.Signal(os.Interrupt)
	if err := record.Wait(); err != nil {
		t.Fatalf("recording: %v", err)
	}
	a := &asked{}
	a.ask(self(t, "why", "--json", file))
	return a
}

// limitCPU puts a program into a control group of its own that
// may use some percent of one CPU.
func limitCPU(t testing.TB, target *fixture.Running, percent int) {
	t.Helper()
	const period = 100_000 // microseconds
	quota := percent * period / 100
	var refused []string
	for parent, limit := range map[string][2]string{
		"/sys/fs/cgroup":     {"cpu.max", fmt.Sprint(quota, " ", period)},
		"/sys/fs/cgroup/cpu": {"cpu.cfs_quota_us", fmt.Sprint(quota)}, // of version 1
	} {
		dir, err := os.MkdirTemp(parent, "cpprof")
		if err != nil {
			refused = append(refused, err.Error())
			continue
		}
		t.Cleanup(func() {
			target.Process.Kill()
			target.Wait()
			os.Remove(dir)
		})
		err = errors.Join(writeExisting(filepath.Join(dir, limit[0]), limit[1]), writeExisting(filepath.Join(dir, "cgroup.procs"), fmt.Sprint(target.Pid())))
		if err == nil {
			return
		}
		refused = append(refused, err.Error())
	}
	t.Skipf("no control group can be limited here: %s", strings.Join(refused, "; "))
}

// writeExisting writes to a file of the kernel.
func writeExisting(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
