//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"github.com/cpprof/cpprof/internal/bench/forecast"
	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why"
)

// A bench has what the command line says.
type bench struct {
	dir     string
	length  time.Duration
	before  bool // without the versions that have the fix
	verbose bool
	corpus  []bug
	planted string // the program that has all planted causes, once it is built
	names   *regexp.Regexp
}

// place is where a profiler names a cause: 1 is first, 0 nowhere.
type place int

func (p place) String() string {
	if p == 0 {
		return "-"
	}
	return fmt.Sprint(int(p))
}

// profiles come from the runtime, from felixge/fgprof and from
// perf. A dump has the goroutines of a moment, as a debugger
// has. What the flight recorder has is read as go tool trace
// shows it.
var profiles = []string{"CPU", "block", "mutex", "fgprof", "dump", "flight", "perf"}

// traced are the profiles that go tool trace makes of a trace.
var traced = []string{"sync", "sched", "syscall", "net"}

const line = "%-17s %-29s %5s  %4s %5s %5s %6s %4s %6s %4s  %5s  %-22s  %s\n"

// A tally counts what was said of the bugs.
type tally struct {
	tried, first, top, other, nothing int
	profiled                          map[string]int // named among the first three
	fixed, again                      int            // findings, and versions in which the cause is named
	gains                             gains
}

func (b *bench) run() error {
	var err error
	if b.dir, err = tool.Build("cmd/cpprof"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if !b.before {
		fmt.Printf(line, "bug", "kind", "named", "CPU", "block", "mutex", "fgprof", "dump", "flight", "perf", "fixed", "gain: measured, said", "first finding")
	}
	t := &tally{profiled: make(map[string]int), gains: gains{silent: make(map[string]int)}}
	for _, g := range b.corpus {
		if !b.names.MatchString(g.name) {
			continue
		}
		if failed := b.compare(&g, t); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", g.name, failed))
		}
	}
	if b.before {
		return err
	}
	fmt.Printf("\n%d bugs: named first %d, among the first three %d, something else %d, nothing %d; "+
		"findings in fixed versions %d, the cause named in %d of them\n",
		t.tried, t.first, t.top, t.other, t.nothing, t.fixed, t.again)
	fmt.Printf("among the first three of a CPU profile %d, block %d, mutex %d, one of these %d, fgprof %d, "+
		"dump %d, flight recorder %d, perf %d\n", t.profiled["CPU"], t.profiled["block"], t.profiled["mutex"],
		t.profiled["runtime"], t.profiled["fgprof"], t.profiled["dump"], t.profiled["flight"], t.profiled["perf"])
	t.gains.print()
	return err
}

// compare tries both versions, and prints a line.
func (b *bench) compare(g *bug, t *tally) error {
	old, err := b.try(g, g.before)
	if err != nil {
		return err
	}
	in, err := b.profile(g, g.before)
	if err != nil {
		return err
	}
	if b.before {
		in["cpprof"] = old.names(g.causes)
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"bug": g.name, "places": in})
	}
	fixed, err := b.try(g, g.fixed)
	if err != nil {
		return err
	}
	named, says := old.names(g.causes), fmt.Sprint(len(fixed.Findings))
	if fixed.names(g.causes) > 0 {
		t.again++
		says += "!" // the cause is named again
	}
	fmt.Printf(line, g.name, g.kind, named, in["CPU"], in["block"], in["mutex"], in["fgprof"], in["dump"], in["flight"], in["perf"],
		says, t.gains.add(old, fixed, named), old.first())
	t.tried++
	switch {
	case named == 1:
		t.first++
		t.top++
	case named > 0:
		t.top++
	case len(old.Findings) > 0:
		t.other++
	default:
		t.nothing++
	}
	for name, at := range in {
		if at > 0 {
			t.profiled[name]++
		}
	}
	t.fixed += len(fixed.Findings)
	return nil
}

// A trial is what cpprof says of one version.
type trial struct {
	why.Answer
	speed forecast.Speed
}

// first describes the first finding.
func (t *trial) first() string {
	if len(t.Findings) == 0 {
		return string(t.State)
	}
	f := t.Findings[0]
	return fmt.Sprintf("%s %s %s", f.Kind, f.Where.Function, f.Lock)
}

// names returns which of the first three findings names a cause:
// as its place, a caller or a lock that the text shows, or as
// what those do that the goroutines wait for.
func (t *trial) names(causes []string) place {
	for i, f := range t.Findings[:min(3, len(t.Findings))] {
		said := append([]string{f.Where.Function, f.Where.Caller, f.Where.Library, f.Lock}, f.Through...)
		if !f.HasPlace() { // the text shows none
			said = nil
		}
		if f.Made != nil {
			said = append(said, f.Made.For)
		}
		for _, p := range f.Callers[:min(2, len(f.Callers))] {
			said = append(said, p.Name)
		}
		for _, c := range f.Causes {
			said = append(said, c.Place.Function, c.Lock, c.Taken)
		}
		said = strings.Split(strings.Join(said, " or "), " or ") // a passage may be "A or B"
		if slices.ContainsFunc(said, func(s string) bool { return slices.Contains(causes, s) }) {
			return place(i + 1)
		}
	}
	return 0
}

// try builds and records one version. What is said of the
// machine is true, and not about the program.
func (b *bench) try(g *bug, version string) (*trial, error) {
	dir := b.folder(g, version)
	if err := b.build(g, version, dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "run.cpprof")
	run, _, err := tool.Ready(b.workload(g, version, dir))
	if err != nil {
		return nil, err
	}
	defer run.End()
	if _, err := b.cpprof("record", "-d", b.length.String(), "-o", file, "-p",
		fmt.Sprint(run.Process.Pid)); err != nil {
		return nil, err
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, err
	}
	var done, spent, length float64
	if _, err := fmt.Fscanln(run.Out, &done, &spent, &length); err != nil {
		return nil, fmt.Errorf("reading what the workload has done: %w", err)
	}
	if b.verbose {
		text, err := b.cpprof("why", "--top", "0", file)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%s %s:\n%s\n", g.name, version, text)
	}
	said, err := b.cpprof("why", "--json", file)
	if err != nil {
		return nil, err
	}
	t := &trial{speed: forecast.Speed{Rate: done / length * 1e9, Each: spent / max(done, 1) / 1e9}}
	err = json.Unmarshal(said, &t.Answer)
	t.Findings = slices.DeleteFunc(t.Findings, func(f *why.Finding) bool { return f.LacksCPU() })
	return t, err
}

// folder is where a version is built.
func (b *bench) folder(g *bug, version string) string {
	return filepath.Join(b.dir, g.name+"-"+path.Base(version))
}

// workload is the command that runs a version, and writes to dir.
func (b *bench) workload(g *bug, version, dir string) *exec.Cmd {
	run := exec.Command(filepath.Join(b.folder(g, version), "work"), g.name, version)
	run.Env = append(os.Environ(), "WORK_DIR="+dir)
	return run
}

func (b *bench) cpprof(args ...string) ([]byte, error) {
	out, err := exec.Command(filepath.Join(b.dir, "cpprof"), args...).Output()
	if err != nil {
		return nil, fmt.Errorf("cpprof %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// profile runs a version once more, which takes profiles of
// itself, and returns where they name a cause.
func (b *bench) profile(g *bug, version string) (map[string]place, error) {
	again, err := os.MkdirTemp(b.folder(g, version), "profiles")
	if err != nil {
		return nil, err
	}
	run := b.workload(g, version, again)
	run.Env = append(run.Env, "PROFILES="+again, "SECONDS="+fmt.Sprint(b.length.Seconds()))
	if err := tool.Run(run); err != nil {
		return nil, fmt.Errorf("profiling itself: %w", err)
	}
	in := make(map[string]place)
	for _, name := range traced {
		p, err := exec.Command("go", "tool", "trace", "-pprof="+name, filepath.Join(again, "flight.trace")).Output()
		if err != nil {
			return nil, fmt.Errorf("go tool trace: %w", err)
		}
		if read, err := profile.ParseData(p); err == nil { // empty, if nothing waited
			if at := names(read, g.causes); at > 0 && (in["flight"] == 0 || at < in["flight"]) {
				in["flight"] = at
			}
		}
	}
	if err := b.perf(g, version, filepath.Join(again, "perf")); err != nil && !errors.Is(err, exec.ErrNotFound) {
		return nil, err
	}
	for _, name := range profiles {
		data, err := os.ReadFile(filepath.Join(again, name))
		if err != nil {
			continue // it is read elsewhere, or perf is not there
		}
		p, err := profile.ParseData(data)
		if err != nil {
			return nil, err
		}
		in[name] = names(p, g.causes)
	}
	in["runtime"] = max(in["CPU"], in["block"], in["mutex"])
	return in, nil
}

// perf writes a profile that perf has taken of a version.
func (b *bench) perf(g *bug, version, file string) error {
	run := b.workload(g, version, filepath.Dir(file))
	if err := run.Start(); err != nil {
		return err
	}
	defer run.Wait()
	defer run.Process.Kill()
	for _, args := range [][]string{
		{"perf", "record", "-q", "-g", "-F", "99", "-o", file + ".data", "-p", fmt.Sprint(run.Process.Pid),
			"--", "sleep", fmt.Sprint(b.length.Seconds())},
		{"sh", "-c", "perf script -i $0.data >$0.txt 2>/dev/null", file},
	} {
		if err := tool.Run(exec.Command(args[0], args[1:]...)); err != nil {
			return err
		}
	}
	if text, err := os.Stat(file + ".txt"); err != nil || text.Size() == 0 {
		return err // the program used no processor
	}
	_, err := b.cpprof("export", "--to", "pprof", "-o", file, file+".txt")
	return err
}

// build makes a module of the workload with one version of the library.
func (b *bench) build(g *bug, version, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if g.module == "" && b.planted != "" {
		return os.Link(b.planted, filepath.Join(dir, "work"))
	}
	if err := g.copy(version, dir); err != nil {
		return err
	}
	steps := [][]string{{"mod", "init", "example.com/work"}, {"mod", "tidy"}, {"build", "-o", "work", "."}}
	if module, version := g.library(version); module != "" {
		edit := append([]string{"mod", "edit", "-require=" + module + "@" + version}, edits[g.name]...)
		steps = slices.Insert(steps, 1, edit)
	}
	for _, args := range steps {
		if err := tool.Go(dir, nil, args...); err != nil {
			return err
		}
	}
	if g.module == "" {
		b.planted = filepath.Join(dir, "work")
	}
	return nil
}

// library returns the module of a version, and the version without it.
func (g *bug) library(version string) (module, of string) {
	if module, of, ok := strings.Cut(version, "@"); ok {
		return module, of
	}
	return g.module, version
}

// copy writes the workload's files to a folder.
func (g *bug) copy(version, dir string) error {
	module, _ := g.library(version)
	for from, to := range g.files() {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if g.module != "" {
			text = bytes.ReplaceAll(text, []byte(g.module), []byte(module))
		}
		text = bytes.ReplaceAll(text, []byte(plantedEnd), []byte("observe()"))
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// names returns where a profile has a cause: among the functions
// with most time of their own, which includes the standard
// library below them, or among the functions of libraries with
// most time.
func names(p *profile.Profile, causes []string) place {
	own, all := make(map[string]int64), make(map[string]int64)
	for _, s := range p.Sample {
		weight, seen := s.Value[len(s.Value)-1], make(map[string]bool)
		for _, at := range s.Location {
			for _, l := range at.Line {
				name := l.Function.Name
				if !views.IsOwn(name) || seen[name] {
					continue
				}
				if len(seen) == 0 {
					own[name] += weight
				}
				if seen[name] = true; ofLibrary(l.Function) {
					all[name] += weight
				}
			}
		}
	}
	first, second := ranked(own, causes), ranked(all, causes)
	if first == 0 || second != 0 && second < first {
		return second
	}
	return first
}

// ofLibrary reports whether a function is none of the
// workload's. A library's closure that the compiler has inlined
// there has only a file of the library.
func ofLibrary(f *profile.Function) bool {
	return !strings.HasPrefix(f.Name, "main.") || strings.Contains(f.Filename, "@")
}

// ranked returns which of the three functions with most weight is a cause.
func ranked(weights map[string]int64, causes []string) place {
	functions := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	for i, f := range functions[:min(3, len(functions))] {
		if slices.Contains(causes, f) {
			return place(i + 1)
		}
	}
	return 0
}
