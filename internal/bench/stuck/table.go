//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/heap"
)

// A bench has what the command line says.
type bench struct {
	dir       string
	names     *regexp.Regexp
	tenth     int
	toolchain string
	stripped  bool
	oracle    bool
	healthy   time.Duration
	lanes     int // of healthy programs
	causes    bool
	costs     bool
}

// attempts is how often a program is run until it leaks: some do
// that rarely.
const attempts = 3

// A row is what was found in one program.
type row struct {
	truth         int
	by            [len(tools)]score
	decided       bool // what is leaked is known for certain
	halt          time.Duration
	judged, right bool // its cause
}

// A score is how many leaked goroutines a tool has named, and
// how many others.
type score struct{ found, fals int }

// tools are what is compared, of the same process. The second
// and the third need -oracle.
var tools = [...]string{"`cpprof stuck`", "`goroutineleak` profile", "goleak", "SIGQUIT"}

func (b *bench) run() (good bool, err error) {
	if b.dir, err = os.MkdirTemp("", "cpprof-stuck-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(b.dir)
	if b.costs {
		return true, b.measureCosts()
	}
	all, err := b.buildKernels()
	if err != nil {
		return false, err
	}
	var rows []row
	for i, k := range all {
		if b.tenth >= 0 && i%10 != b.tenth%10 || !b.names.MatchString(k.name) {
			continue
		}
		var r row
		for range attempts {
			if r, err = b.kernel(k); err != nil || r.truth > 0 || k.healthy {
				break
			}
		}
		if err != nil {
			fmt.Printf("%-18s %v\n", k.name, err)
			continue
		}
		rows = append(rows, r)
	}
	wrong := b.summarize(rows)
	more, err := b.runHealthy()
	if wrong += more; err == nil && wrong > 0 {
		fmt.Fprintf(os.Stderr, "stuck: %d claims are false\n", wrong)
	}
	return wrong == 0, err
}

// kernel runs one of the runtime's programs.
func (b *bench) kernel(k kernel) (r row, err error) {
	env := []string{"GODEBUG=asyncpreemptoff=1"}
	if k.simple {
		env = append(env, "GOMAXPROCS=1")
	}
	cmd := exec.Command(k.path, k.name)
	cmd.Env = append(os.Environ(), env...)
	t, err := start(cmd)
	if err != nil {
		return r, err
	}
	defer t.End()
	settle(t.Process.Pid)
	result, answer, err := examine(t.Process.Pid, usual, 2, gap)
	if err != nil {
		return r, err
	}
	text, err := rest(t)
	if err != nil {
		return r, err
	}
	all := goroutines(text)
	claimed := claims(result)
	leaked := b.truth(all, claimed, &r)
	if k.healthy {
		leaked, r.decided = nil, true
	}
	r.truth = len(leaked)
	var wrong []dumped
	for _, d := range all {
		isLeak := leaked[d.id] && r.decided ||
			slices.ContainsFunc(k.leaks, func(m *regexp.Regexp) bool { return m.MatchString(d.bottom) })
		for i, named := range [len(tools)]bool{claimed[d.id], d.leaked, d.named, true} {
			switch {
			case named && (isLeak || i > 0 && leaked[d.id]):
				r.by[i].found++
			case named:
				r.by[i].fals++
			}
		}
		if claimed[d.id] && !isLeak {
			wrong = append(wrong, d)
		}
	}
	last := result.Passes[len(result.Passes)-1]
	r.halt = last.Halt
	note := ""
	if !r.decided {
		note = "?"
	}
	if len(result.Doubts) > 0 {
		note += " " + strings.Join(result.Doubts, "; ")
	}
	if result.Limit != nil {
		note += " " + result.Limit.Error()
	}
	fmt.Printf("%-18s %5d goroutines, %5d leaked, %5d found, %5d by the runtime, %d false, halt %v%s\n",
		k.name, len(all), r.truth, r.by[0].found, r.by[1].found, r.by[0].fals, last.Halt.Round(10*time.Microsecond), note)
	if r.judged = len(causes[k.name]) > 0 && r.truth > 0; r.judged {
		r.right = isRight(k.name, answer)
	}
	if b.causes || r.judged && !r.right {
		printCauses(answer)
	}
	for _, d := range wrong {
		fmt.Println("    FALSE", d.bottom, strings.ReplaceAll(d.text, "\n", "\n    "))
	}
	return r, nil
}

// claims returns the goroutines that are claimed to be stuck for good.
func claims(r *heap.Result) map[int64]bool {
	claimed := map[int64]bool{}
	for _, g := range r.Groups {
		for _, one := range g.Goroutines {
			if g.Verdict == sampledata.Stuck {
				claimed[one.ID] = true
			}
		}
	}
	return claimed
}

// truth returns the goroutines that are leaked. If nothing but
// the stub can run, all that wait for one another are. Otherwise
// only a profile tells, or nothing.
func (b *bench) truth(all []dumped, claimed map[int64]bool, r *row) map[int64]bool {
	leaked, active := map[int64]bool{}, false
	for _, d := range all {
		waits := strings.HasPrefix(d.state, "chan") || strings.HasPrefix(d.state, "select") ||
			strings.HasPrefix(d.state, "sync.") || strings.HasPrefix(d.state, "semacquire")
		if waits {
			leaked[d.id] = true
		}
		active = active || !waits && !strings.Contains(d.text, "kernels/pprof.")
	}
	if r.decided = !active; r.decided {
		return leaked
	}
	for _, d := range all {
		if !d.leaked && !claimed[d.id] {
			delete(leaked, d.id)
		}
	}
	return leaked
}

// summarize prints the sum, and returns the number of false claims.
func (b *bench) summarize(rows []row) int {
	var sum [len(tools)]score
	var in [len(tools)]int // programs
	truth, halt := 0, time.Duration(0)
	for _, r := range rows {
		truth, halt = truth+r.truth, max(halt, r.halt)
		for i, s := range r.by {
			sum[i].found, sum[i].fals = sum[i].found+s.found, sum[i].fals+s.fals
			if s.found > 0 {
				in[i]++
			}
		}
	}
	leaky := lists.Count(rows, func(r row) bool { return r.truth > 0 })
	judged := lists.Count(rows, func(r row) bool { return r.judged })
	right := lists.Count(rows, func(r row) bool { return r.right })
	fmt.Printf("\n%d programs, %d with %d leaked goroutines; longest halt %v\n\n", len(rows), leaky, truth, halt)
	fmt.Print("| | programs | goroutines found | missed | false |\n|---|---|---|---|---|\n")
	for i, s := range sum {
		if b.oracle || i == 0 || i == len(sum)-1 {
			fmt.Printf("| %s | %d | %d | %d | %d |\n", tools[i], in[i], s.found, max(0, truth-s.found), s.fals)
		}
	}
	fmt.Printf("\n%d kernels of GoBench with leaks: the cause is right in %d\n", judged, right)
	return sum[0].fals
}
