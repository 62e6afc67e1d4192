//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/why"
	"github.com/google/pprof/profile"
)

// A bench has what the command line says.
type bench struct {
	dir    string
	length time.Duration
	names  *regexp.Regexp
}

// place is where a profiler names a cause: 1 is first, 0 nowhere.
type place int

func (p place) String() string {
	if p == 0 {
		return "-"
	}
	return fmt.Sprint(int(p))
}

func (b *bench) run() error {
	var err error
	if b.dir, err = os.MkdirTemp("", "cpprof-bugs-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	build := exec.Command("go", "build", "-trimpath", "-o", b.dir+"/", "./cmd/cpprof")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building cpprof: %w\n%s", err, out)
	}
	const line = "%-16s %-22s %5s  %-12s %11s  %s\n"
	fmt.Printf(line, "bug", "kind", "named", "CPU profile", "fixed: says", "first finding")
	first, top, wrong, missed, profiled, said, tried := 0, 0, 0, 0, 0, 0, 0
	for _, g := range corpus {
		if !b.names.MatchString(g.name) {
			continue
		}
		old, err := b.try(&g, g.before)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		new, err := b.try(&g, g.fixed)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		named := old.names(g.causes)
		fmt.Printf(line, g.name, g.kind, named, old.profile.names(g.causes),
			fmt.Sprint(len(new.Findings)), old.first())
		tried++
		switch {
		case named == 1:
			first++
			top++
		case named > 0:
			top++
		case len(old.Findings) > 0:
			wrong++
		default:
			missed++
		}
		if old.profile.names(g.causes) > 0 {
			profiled++
		}
		said += len(new.Findings)
	}
	fmt.Printf("\n%d bugs: named first %d, among the first three %d, something else %d, nothing %d; "+
		"in the first three of a CPU profile %d; findings in fixed versions %d\n",
		tried, first, top, wrong, missed, profiled, said)
	return nil
}

// A trial is what is said of one version.
type trial struct {
	why.Answer
	profile ranking
}

// A ranking has the functions of a CPU profile, most time of their own first.
type ranking []string

func (r ranking) names(causes []string) place {
	for i, f := range r[:min(3, len(r))] {
		if slices.Contains(causes, f) {
			return place(i + 1)
		}
	}
	return 0
}

// first describes the first finding.
func (t *trial) first() string {
	if len(t.Findings) == 0 {
		return string(t.State)
	}
	f := t.Findings[0]
	return fmt.Sprintf("%s %s %s", f.Kind, f.Where.Function, f.Lock)
}

// names returns which of the first three findings names a cause: as its
// place or lock, or as what those do that the goroutines wait for.
func (t *trial) names(causes []string) place {
	for i, f := range t.Findings[:min(3, len(t.Findings))] {
		if !f.HasPlace() {
			continue
		}
		said := append([]string{f.Where.Function, f.Where.Library, f.Lock}, f.Through...)
		for _, c := range f.Causes {
			said = append(said, c.Place.Function, c.Lock)
		}
		if slices.ContainsFunc(said, func(s string) bool { return slices.Contains(causes, s) }) {
			return place(i + 1)
		}
	}
	return 0
}

// try builds, runs and records one version.
func (b *bench) try(g *bug, version string) (*trial, error) {
	dir := filepath.Join(b.dir, g.name+"-"+version)
	if err := b.build(g, version, dir); err != nil {
		return nil, err
	}
	file, cpu := filepath.Join(dir, "run.cpprof"), filepath.Join(dir, "cpu.pprof")
	run := exec.Command(filepath.Join(dir, "work"))
	run.Env = append(os.Environ(), "CPU_PROFILE="+cpu, "CPU_SECONDS="+fmt.Sprint(b.length.Seconds()),
		"WORK_DIR="+dir)
	out, err := run.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, err
	}
	defer run.Wait()
	defer run.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan() // it is ready
	cpprof := func(args ...string) ([]byte, error) {
		c := exec.Command(filepath.Join(b.dir, "cpprof"), args...)
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("cpprof %s: %w", strings.Join(args, " "), err)
		}
		return out, nil
	}
	if _, err := cpprof("record", "-d", b.length.String(), "-o", file, "-p",
		fmt.Sprint(run.Process.Pid)); err != nil {
		return nil, err
	}
	lines.Scan() // it has profiled the same time, after that
	t := &trial{profile: readProfile(cpu)}
	answer, err := cpprof("why", "--json", file)
	if err != nil {
		return nil, err
	}
	return t, json.Unmarshal(answer, &t.Answer)
}

// build makes a module of the workload with one version of the library.
func (b *bench) build(g *bug, version, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for from, to := range map[string]string{g.name + ".go": "main.go", "profile.go": "profile.go"} {
		text, err := os.ReadFile(filepath.Join("internal/bench/bugs/testdata", from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"mod", "init", "example.com/work"}, {"mod", "edit", "-require", g.module + "@" + version},
		{"mod", "tidy"}, {"build", "-o", "work", "."}} {
		c := exec.Command("go", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// readProfile ranks the functions of a CPU profile. Without one, there are none.
func readProfile(file string) (all ranking) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil
	}
	flat := make(map[string]int64)
	for _, s := range p.Sample {
		if lines := s.Location[0].Line; len(lines) > 0 && lines[0].Function != nil {
			flat[lines[0].Function.Name] += s.Value[1]
		}
	}
	for name := range flat {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int { return int(flat[b] - flat[a]) })
	return all
}
