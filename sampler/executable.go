package sampler

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/elffile"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// An Executable describes a Go program's file, without running the program.
type Executable struct {
	Path      string // for display
	GoVersion string
	OS, Arch  string
	Entry     uint64 // address of the entry point as linked; 0 if the format doesn't have it
	DWARF     bool   // whether it has debug information
	// whether it is the go command, or a tool that this starts
	// (compiler, linker, ...)
	Toolchain bool
}

// ReadExecutable reads a program's file; /proc/PID/exe is a process's.
func ReadExecutable(path string) (Executable, error) {
	e := Executable{Path: path}
	if to, err := os.Readlink(path); err == nil && strings.HasPrefix(path, "/proc/") {
		e.Path = strings.TrimSuffix(to, " (deleted)")
	}
	if err := e.format(path); err != nil {
		return e, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return e, notGo(e.Path)
	}
	e.GoVersion = info.GoVersion
	// It is a command of the standard library's module, or a
	// wrapper (such as go1.25.3) that starts one.
	e.Toolchain = strings.HasPrefix(info.Path, "cmd/") && info.Main.Path == "" ||
		strings.HasPrefix(info.Path, "golang.org/dl/")
	return e, nil
}

// Foreign returns an error if the program was built for another
// system or processor than cpprof.
func (e Executable) Foreign() error {
	if e.OS == runtime.GOOS && e.Arch == runtime.GOARCH {
		return nil
	}
	return fmt.Errorf("%s was built for %s/%s: this cpprof records only programs for %s/%s",
		e.Path, e.OS, e.Arch, runtime.GOOS, runtime.GOARCH)
}

// StartsPrograms reports whether the program is the go command
// and, with these arguments, runs programs from outside the
// toolchain.
func (e Executable) StartsPrograms(args []string) bool {
	if !e.Toolchain {
		return false
	}
	if len(args) > 1 && args[0] == "-C" {
		args = args[2:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-C=") {
		args = args[1:]
	}
	return len(args) > 0 && slices.Contains([]string{"run", "test", "tool", "generate"}, args[0])
}

func notGo(path string) error {
	return fmt.Errorf("%s is not a Go program: only programs built by the Go toolchain can be recorded", path)
}

// format detects the file's format, and sets the fields that depend on it.
func (e *Executable) format(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading executable: %w", err)
	}
	defer f.Close()
	x, refused := elffile.New(f)
	if refused == nil {
		e.OS, e.Arch, e.Entry = elfSystem(x), elfArch(x.Machine), x.Entry
		e.DWARF = x.Section(".debug_info") != nil || x.Section(".zdebug_info") != nil
		return nil
	}
	if x, err := pe.NewFile(f); err == nil {
		e.OS, e.Arch = "windows", peArches[x.Machine]
		e.DWARF = x.Section(".debug_info") != nil || x.Section(".zdebug_info") != nil
		return nil
	}
	if x, err := macho.NewFile(f); err == nil {
		e.OS, e.Arch = "darwin", machoArches[x.Cpu]
		e.DWARF = x.Section("__debug_info") != nil || x.Section("__zdebug_info") != nil
		return nil
	}
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	switch text := string(magic[:n]); {
	case text == elf.ELFMAG:
		return fmt.Errorf("reading executable %s: %w", e.Path, refused)
	case strings.HasPrefix(text, "#!"):
		return errors.New(e.Path + " is a script: give the Go program that it runs")
	}
	return notGo(e.Path)
}

var (
	peArches = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64",
		pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}
	machoArches = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}
)

// elfArch returns the GOARCH of a processor, or the name that
// ELF has for one that cpprof does not know.
func elfArch(m elf.Machine) string {
	name := strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
	return cmp.Or(goruntime.ArchOf(m), name)
}

func elfSystem(x *elf.File) string {
	if x.OSABI == elf.ELFOSABI_FREEBSD {
		return "freebsd"
	}
	return "linux"
}
