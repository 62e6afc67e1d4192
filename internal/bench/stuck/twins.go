//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/why"
)

// A twin is a healthy program. Nothing in it is stuck, as long as it runs.
type twin struct {
	name string
	path string // its executable
	args []string
	dir  string // where it runs
}

// A mend is a kernel of GoBench, with what its fix replaces.
type mend struct {
	kernel   string
	replaces []string // old and new, in turn
}

// mends have fixes like those that the projects made.
var mends = []mend{
	{"Cockroach584", []string{"// Missing g.mu.Unlock", "g.mu.Unlock()"}},
	{"Cockroach9935", []string{"if err := l.createFile(); err != nil {\n\t\tl.exit(err)\n\t}\n\tl.mu.Unlock()",
		"err := l.createFile()\n\tl.mu.Unlock()\n\tif err != nil {\n\t\tl.exit(err)\n\t}"}},
	{"Cockroach24808", []string{"\tc.ch <- struct{}{}\n\tstopper", "\tselect {\n\tcase c.ch <- struct{}{}:\n\tdefault:\n\t}\n\tstopper"}},
	{"Etcd5509", []string{"return ErrConnClosed_etcd5509 //", "r.client.mu.RUnlock()\n\t\t\treturn ErrConnClosed_etcd5509 //"}},
	{"Etcd6708", []string{"defer c.Unlock()\n\n", "c.Unlock()\n\n"}},
	{"Grpc660", []string{"done := make(chan bool)", "done := make(chan bool, 1)"}},
	{"Kubernetes10182", []string{"defer s.podStatusesLock.Unlock()\n\ts.podStatusChannel", "s.podStatusesLock.Unlock()\n\ts.podStatusChannel"}},
	{"Kubernetes5316", []string{"make(chan bool)", "make(chan bool, 1)", "make(chan error)", "make(chan error, 1)"}},
	{"Moby17176", []string{"/// Missing devices.Unlock()", "devices.Unlock()", "make(chan bool)", "make(chan bool, 1)"}},
	{"Moby33781", []string{"results := make(chan bool)", "results := make(chan bool, 1)"}},
	{"Moby4951", []string{"devices.Lock()\n\tdefer devices.Unlock()\n\n\tinfo := devices.lookupDevice(hash)\n\n\tinfo.lock.Lock()",
		"info := devices.lookupDevice(hash)\n\n\tinfo.lock.Lock()\n\tdevices.Lock()\n\tdefer devices.Unlock()"}},
	{"Syncthing4829", []string{"if len(removed) > 0 {\n\t\tm.notify(nil, removed)\n\t}\n\tm.mut.Unlock() // L2",
		"m.mut.Unlock()\n\tif len(removed) > 0 {\n\t\tm.notify(nil, removed)\n\t}"}},
}

// again replaces package pprof in the kernels that are mended.
// They run again and again.
const again = `package pprof

import (
	"fmt"
	"io"
	"sync"
	"time"
)

type Profile struct{}

var ready sync.Once

func Lookup(string) *Profile { return &Profile{} }

func (*Profile) WriteTo(io.Writer, int) error {
	ready.Do(func() { fmt.Println("READY") })
	time.Sleep(5 * time.Millisecond)
	return nil
}
`

// ownTwins are in testdata/programs/twins, and foreignTwins in the module
// testdata/foreign.
var (
	ownTwins = []string{"workers", "tickers", "errgroup", "pipeline", "conditions", "readers", "contexts", "server",
		"pool", "finalizers", "weak", "unique", "pinned"}
	foreignTwins = []string{"bbolt", "badger", "nats"}
)

// listTwins returns all twins that the command line asks for.
func (b *bench) listTwins() (all []twin) {
	woken := (b.healthy + time.Minute).String() // no timer wakes anybody before
	add := func(t twin) { all = append(all, t) }
	add(twin{name: "ways", path: "healthy", args: []string{woken}})
	for _, m := range mends {
		add(twin{name: "mended-" + m.kernel, path: "mended", args: []string{m.kernel}})
	}
	for _, name := range ownTwins {
		add(twin{name: name, path: "twins", args: []string{name}})
	}
	for _, name := range foreignTwins {
		add(twin{name: name, path: "foreign", args: []string{name}})
	}
	add(twin{name: "net/http.test", path: "http.test", args: []string{"-test.count=1000000", "-test.v"}})
	i := -1
	return slices.DeleteFunc(all, func(t twin) bool {
		i++
		return !b.names.MatchString(t.name) || b.tenth >= 0 && (i%10 != b.tenth%10 || t.path == "foreign")
	})
}

// buildTwins builds the executables of twins.
func (b *bench) buildTwins(all []twin) error {
	root, err := goroot()
	if err != nil {
		return err
	}
	builds := map[string]func(out string) error{
		"healthy":   func(out string) error { return b.build(".", out, "./testdata/programs/healthy", b.stripped) },
		"twins":     func(out string) error { return b.build(".", out, "./testdata/programs/twins", b.stripped) },
		"foreign":   func(out string) error { return b.build("internal/bench/stuck/testdata/foreign", out, ".", b.stripped) },
		"mended":    func(out string) error { return b.buildMended(root, out) },
		"http.test": func(out string) error { return tool.Go("", nil, "test", "-c", "-o", out, "net/http") },
	}
	built := map[string]bool{}
	for i := range all {
		name := all[i].path
		all[i].path = filepath.Join(b.dir, name)
		if name == "http.test" {
			all[i].dir = filepath.Join(root, "src/net/http")
		}
		if built[name] {
			continue
		}
		built[name] = true
		if err := builds[name](all[i].path); err != nil {
			return err
		}
	}
	return nil
}

// buildMended builds the kernels with their mends.
func (b *bench) buildMended(root, out string) error {
	dir := filepath.Join(b.dir, "mended-sources")
	if err := b.writeModule(dir, again); err != nil {
		return err
	}
	source := filepath.Join(root, "src/runtime/testdata/testgoroutineleakprofile/goker")
	if _, err := copySources(source, filepath.Join(dir, "goker")); err != nil {
		return err
	}
	replaces := map[string][]string{"main": {"\tf()\n}\n", "\tfor {\n\t\tf()\n\t}\n}\n"}}
	for _, m := range mends {
		replaces[strings.ToLower(m.kernel)] = m.replaces
	}
	for name, pairs := range replaces {
		path := filepath.Join(dir, "goker", name+".go")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at := strings.LastIndex(string(text), "func main()")
		head, body := "", string(text)
		if name == "main" {
			head, body = body[:at], body[at:]
		}
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(body, pairs[i]) {
				return fmt.Errorf("mending %s: it has no %q", name, pairs[i])
			}
			body = strings.ReplaceAll(body, pairs[i], pairs[i+1])
		}
		if err := os.WriteFile(path, []byte(head+body), 0o666); err != nil {
			return err
		}
	}
	return b.build(dir, out, "./goker", b.stripped)
}

// runHealthy examines the twins, some at the same time. It
// returns the number of false claims.
func (b *bench) runHealthy() (wrong int, err error) {
	all := b.listTwins()
	if err := b.buildTwins(all); err != nil {
		return 0, err
	}
	var mu sync.Mutex
	var lanes sync.WaitGroup
	todo := make(chan twin)
	for range b.lanes {
		lanes.Go(func() {
			for t := range todo {
				r, failure := b.twin(t)
				mu.Lock()
				fmt.Println(r.text(t.name))
				if wrong += len(r.claims); failure != nil && err == nil {
					err = fmt.Errorf("%s: %w", t.name, failure)
				}
				mu.Unlock()
			}
		})
	}
	for _, t := range all {
		todo <- t
	}
	close(todo)
	lanes.Wait()
	fmt.Printf("%d healthy programs, %v each: %d false claims\n", len(all), b.healthy, wrong)
	return wrong, err
}

// A healthyRow is what was found in a twin.
type healthyRow struct {
	runs, suspected, proved int
	longest                 time.Duration // halt
	samples                 int           // of the recording
	claims                  []string
}

func (r *healthyRow) text(name string) string {
	text := fmt.Sprintf("%-22s examined %3d times: suspects in %3d, halts to prove %3d, longest %7v; %3d samples; %d false",
		name, r.runs, r.suspected, r.proved, r.longest.Round(10*time.Microsecond), r.samples, len(r.claims))
	for _, c := range r.claims {
		text += "\n    FALSE: " + c
	}
	return text
}

// twin runs a healthy program, and examines it until the time is
// over: with the halt only, with passes before it, and in a
// recording.
func (b *bench) twin(t twin) (r healthyRow, err error) {
	cmd := exec.Command(t.path, t.args...)
	cmd.Dir = t.dir
	p, err := start(cmd)
	if err != nil {
		return r, err
	}
	defer p.End()
	go io.Copy(io.Discard, p.Out)
	begin := time.Now()
	if err := r.record(p.Process.Pid, b.healthy/3); err != nil {
		return r, err
	}
	for ; time.Since(begin) < b.healthy; r.runs++ {
		h, a, err := examine(p.Process.Pid, usual, r.runs%2*2, gap)
		if err != nil {
			return r, err
		}
		for _, p := range h.Passes {
			r.longest = max(r.longest, p.Halt)
		}
		if len(h.Passes) > 0 && !h.Passes[0].Early {
			r.suspected++
		}
		if h.Proved {
			r.proved++
		}
		for _, f := range a.Findings {
			if f.Verdict >= sampledata.Suspected {
				r.claims = append(r.claims, fmt.Sprintf("%d goroutines, by %d passes: %s [%s] %s", f.Count, len(h.Passes), f.Fault,
					f.Groups[0].Reason, stackOf(f.Groups[0])))
			}
		}
	}
	return r, nil
}

// stackOf returns the functions in which a group waits.
func stackOf(g *sampledata.MarkedGroup) string {
	var names []string
	for _, f := range g.Calls {
		names = append(names, f.Function)
	}
	return strings.Join(names, " < ")
}

// record records a program as 'cpprof record' does, and asks why
// it is slow. Nothing is stuck for good, a deadlock, or a leak.
func (r *healthyRow) record(pid int, d time.Duration) error {
	p, b, err := tool.Attach(pid)
	if err != nil {
		return err
	}
	defer p.Release()
	defer b.Close()
	builder := sampledata.NewBuilder(b.Header())
	_, err = sampler.Record(context.Background(), p, b, builder, sampler.Options{
		Duration: d, MaxOverhead: sampler.DefaultMaxOverhead, MaxCPU: sampler.DefaultMaxCPU,
		Mark: live.Marker(usual),
	})
	if err != nil {
		return err
	}
	recording := builder.Recording()
	r.samples = recording.Samples.Len()
	a, err := why.Find(recording, why.Options{Threshold: why.DefaultThreshold})
	if err != nil {
		return err
	}
	for _, f := range a.Findings {
		switch f.Kind {
		case why.StuckKind, why.DeadlockKind, why.LeakKind:
			r.claims = append(r.claims, fmt.Sprintf("a finding: %s of %s at %s", f.Kind, f.Class, f.Where.Function))
		}
	}
	return nil
}
