//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

// A missingError says what this machine lacks to boot another one.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

// debianFiles returns the kernel's image and a busybox for an architecture.
// They stay in the user's cache.
func debianFiles(arch string) (kernel, busybox string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", &missingError{err.Error()}
	}
	dir := filepath.Join(cache, "cpprof-linux-6.1", arch)
	if kernel, busybox, err := filesIn(dir); err == nil {
		return kernel, busybox, nil
	}
	if err := fetchDebian(arch, dir); err != nil {
		return "", "", &missingError{"Debian's kernel can't be fetched: " + err.Error()}
	}
	return filesIn(dir)
}

func filesIn(dir string) (kernel, busybox string, err error) {
	kernels, err := filepath.Glob(filepath.Join(dir, "boot/vmlinuz-*"))
	if err != nil || len(kernels) == 0 {
		return "", "", errors.Join(err, fmt.Errorf("no kernel in %s", dir))
	}
	busybox = filepath.Join(dir, "bin/busybox")
	_, err = os.Stat(busybox)
	return kernels[0], busybox, err
}

// fetchDebian fetches and unpacks the packages of an
// architecture, with package lists of its own: this machine's
// own lists stay as they are.
func fetchDebian(arch, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "lists/partial"), 0o755); err != nil {
		return err
	}
	sources := "/etc/apt/sources.list.d/debian.sources"
	if _, err := os.Stat(sources); err != nil {
		sources = "/etc/apt/sources.list"
	}
	options := []string{
		"-qq", "-o", "APT::Architecture=" + arch, "-o", "APT::Architectures=" + arch, "-o", "Acquire::Languages=none",
		"-o", "Dir::State::Lists=" + dir + "/lists", "-o", "Dir::Cache=" + dir, "-o", "Dir::Etc::SourceParts=/dev/null",
		"-o", "Dir::Etc::SourceList=" + sources, "-o", "APT::Sandbox::User=root",
	}
	apt := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, append(slices.Clone(options), args...)...)
		cmd.Dir = dir
		return cmd
	}
	if err := tool.Run(apt("apt-get", "update")); err != nil {
		return err
	}
	names, err := apt("apt-cache", "search", "--names-only", `^linux-image-6\.1\.[0-9]+-[0-9]+-cloud-`+arch+"$").Output()
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(names)), "\n")
	image, _, _ := strings.Cut(slices.MaxFunc(lines, func(a, b string) int {
		return len(a) - len(b) + 2*strings.Compare(a, b)
	}), " ")
	if image == "" {
		return errors.New("Debian has no Linux 6.1 for " + arch)
	}
	if err := tool.Run(apt("apt-get", "download", image, "busybox-static")); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := errors.Join(tool.Run(exec.Command("dpkg", "-x", p, dir)), os.Remove(p)); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(dir, "lists"))
}

// emulator returns the program that emulates a processor.
func emulator(program, pkg string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	if !*install || os.Getuid() != 0 {
		return "", &missingError{fmt.Sprintf("%s is not here: apt-get install %s, or -install as root", program, pkg)}
	}
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", pkg}} {
		if err := tool.Run(exec.Command("apt-get", args...)); err != nil {
			return "", &missingError{err.Error()}
		}
	}
	return exec.LookPath(program)
}
