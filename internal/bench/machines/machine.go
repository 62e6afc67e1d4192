//go:build linux

package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

// A machine is an emulated one, with what is tried on it.
type machine struct {
	arch, program, pkg, console, cpu string
	options                          []string
	builds                           []build
	trials                           []trial

	command []string
	boots   string        // the kernel's command line
	kernel  string        // what it says of itself
	used    time.Duration // of this machine's processors
}

// A build is a program of the machine's /bin.
type build struct {
	name string
	args []string // of the go command
	by   string   // the Go that builds it, as a module of its own
}

// A trial is some lines for a shell, and what they must print.
type trial struct {
	name, script string
	prints       []string // expressions

	tried
	again bool // these are the results of a second try
}

// tried is what came of a trial.
type tried struct {
	took         time.Duration
	output       string
	begun, ended bool
}

// failed reports whether a trial that was begun does not print
// what it must.
func (t *trial) failed() bool { return t.begun && len(t.missed()) > 0 }

// missed returns the expressions that the output does not have.
func (t *trial) missed() (list []string) {
	for _, e := range t.prints {
		if !regexp.MustCompile("(?m)" + e).MatchString(t.output) {
			list = append(list, e)
		}
	}
	if !t.ended {
		list = append(list, "the trial's end")
	}
	return list
}

//go:embed init.sh
var initScript string

//go:embed go.sh
var goScript string

//go:embed trial.sh
var trialScript string

// prepare builds all programs and the machine's files in a folder.
func (m *machine) prepare(dir string) error {
	qemu, err := emulator(m.program, m.pkg)
	if err != nil {
		return err
	}
	kernel, busybox, err := debianFiles(m.arch)
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for _, b := range m.builds {
		if err := b.make(m.arch, filepath.Join(bin, b.name)); err != nil {
			return err
		}
	}
	files := tree{"init": []byte(initScript), "trial.sh": []byte(trialScript), "bin/go": []byte(goScript)}
	if err := files.addFolder("bin", bin); err != nil {
		return err
	}
	if files["bin/busybox"], err = os.ReadFile(busybox); err != nil {
		return err
	}
	if err := files.addSources(); err != nil {
		return err
	}
	for i, t := range m.trials {
		files[fmt.Sprintf("trials/%02d", i)] = []byte(t.script)
	}
	image := filepath.Join(dir, "initrd")
	if err := files.write(image); err != nil {
		return err
	}
	m.command = slices.Concat([]string{qemu}, m.options, []string{"-cpu", m.cpu, "-smp", "2", "-m", "2048", "-nographic",
		"-nic", "none", "-no-reboot", "-kernel", kernel, "-initrd", image})
	m.boots = "console=" + m.console + " quiet panic=-1"
	return nil
}

// make builds a program for an architecture.
func (b build) make(arch, out string) error {
	args := append([]string{b.args[0], "-o", out}, b.args[1:]...)
	cmd := exec.Command("go", args...)
	// With the flags of internal/release, whose test then finds
	// the packages in Go's cache.
	cmd.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=-trimpath -tags=nethttpomithttp2")
	if b.by != "" {
		dir, err := os.MkdirTemp("", "cpprof-machines-old-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := os.CopyFS(dir, os.DirFS(filepath.FromSlash(b.args[len(b.args)-1]))); err != nil {
			return err
		}
		mod := "module " + path.Base(b.args[len(b.args)-1]) + "\n\ngo 1.21\n"
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
			return err
		}
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "GOTOOLCHAIN="+b.by)
		cmd.Args[len(cmd.Args)-1] = "."
	}
	return tool.Run(cmd)
}

// bootAgain tries what has failed once more: on a slow machine,
// chance has a part in what samples show.
func (m *machine) bootAgain() error {
	var numbers []string
	for i := range m.trials {
		if t := &m.trials[i]; t.failed() {
			t.tried, t.again = tried{begun: true}, true
			numbers = append(numbers, fmt.Sprintf("%02d", i))
		}
	}
	if numbers == nil {
		return nil
	}
	m.boots += " trials=" + strings.Join(numbers, ",")
	return m.boot()
}

// boot runs the machine, and reads what it prints.
func (m *machine) boot() error {
	ctx, cancel := context.WithTimeout(context.Background(), *patient)
	defer cancel()
	c := exec.CommandContext(ctx, m.command[0], append(m.command[1:], "-append", m.boots)...)
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	m.read(out)
	err = c.Wait()
	m.used += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if ctx.Err() == nil {
		return err
	}
	if m.kernel == "" {
		return fmt.Errorf("%s: the machine did not begin within %v", m.arch, *patient)
	}
	fmt.Printf("%s: the machine did not end within %v\n", m.arch, *patient)
	return nil
}

// read shares out a machine's console to the trials.
func (m *machine) read(console io.Reader) {
	var now *trial
	var start time.Time
	lines := bufio.NewScanner(console)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		var i int
		switch {
		case strings.Contains(line, "=== machine "): // the firmware's last line is unfinished
			_, m.kernel, _ = strings.Cut(line, "=== machine ")
		case scans(line, "=== begin %d", &i) && i < len(m.trials):
			now, start = &m.trials[i], time.Now()
			now.begun = true
		case strings.HasPrefix(line, "=== end") && now != nil:
			now.took, now.ended = time.Since(start), true
			now = nil
		case now != nil:
			now.output += line + "\n"
		}
	}
	if err := lines.Err(); err != nil && now != nil {
		now.output += err.Error() + "\n"
	}
}

func scans(line, format string, i *int) bool {
	n, err := fmt.Sscanf(line, format, i)
	return n == 1 && err == nil && *i >= 0
}
