package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(boxVar); text != "" {
		if err := enter(text); err != nil {
			fmt.Fprintln(os.Stderr, "box:", err)
			os.Exit(128)
		}
	}
	fixture.Main(m)
}

// boxVar has the box that the test's program is to enter.
const boxVar = "CPPROF_TEST_BOX"

// A box is what a node makes of a container's description: a
// root folder, the processes that it shares, its user's
// capabilities.
type box struct {
	Root, Name   string
	Target       int
	User         int
	Capabilities []string
	NoNew        bool
	ReadOnly     bool
	Dies         bool     // with nsenter
	Enter        []string // the namespaces of Target, beside that of processes
	Command      []string
}

// box returns the box of a container.
func (c *cluster) box(container object) *box {
	b := &box{Root: c.root, Name: container["name"].(string), Target: c.target, User: 1000}
	if container["targetContainerName"] != "server" {
		c.t.Errorf("the container shares the processes of %v", container["targetContainerName"])
	}
	b.take(c.t, container)
	return b
}

// take takes a container's rights.
func (b *box) take(t *testing.T, container object) {
	rights, _ := container["securityContext"].(object)
	if user, ok := rights["runAsUser"].(float64); ok {
		b.User = int(user)
	}
	b.NoNew = rights["allowPrivilegeEscalation"] == false
	b.ReadOnly = rights["readOnlyRootFilesystem"] == true
	asked, _ := rights["capabilities"].(object)
	if !slices.Equal(texts(asked["drop"]), []string{"ALL"}) {
		t.Errorf("capabilities %v", asked)
	}
	b.Capabilities = texts(asked["add"])
}

// command returns a program in the box.
func (b *box) command(argv []string) *exec.Cmd {
	with := *b
	with.Command = argv
	text, err := json.Marshal(with)
	if err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("nsenter", slices.Concat([]string{"--target", strconv.Itoa(b.Target), "--pid"}, b.Enter,
		[]string{"--", self})...)
	cmd.Env = []string{boxVar + "=" + string(text)}
	return cmd
}

var capabilities = map[string]int{
	"SYS_PTRACE": unix.CAP_SYS_PTRACE, "DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "DAC_READ_SEARCH": unix.CAP_DAC_READ_SEARCH,
	"SYS_NICE": unix.CAP_SYS_NICE, "BPF": unix.CAP_BPF, "PERFMON": unix.CAP_PERFMON,
}

// enter makes this process the program of a box.
func enter(text string) error {
	var b box
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unsharing mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount(b.Root, b.Root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting the root: %w", err)
	}
	if err := unix.Mount("proc", filepath.Join(b.Root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting proc: %w", err)
	}
	for _, shared := range []string{"/dev", "/sys"} {
		if err := unix.Mount(shared, filepath.Join(b.Root, shared), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", shared, err)
		}
	}
	own := filepath.Join(b.Root, "own", b.Name)
	if err := os.MkdirAll(own, 0o777); err != nil {
		return err
	}
	if err := unix.Mount(own, filepath.Join(b.Root, "tmp"), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting tmp: %w", err)
	}
	if b.ReadOnly {
		if err := unix.Mount("", b.Root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("mounting the root without writing: %w", err)
		}
	}
	if err := unix.Chroot(b.Root); err != nil {
		return err
	}
	if err := unix.Chdir("/tmp"); err != nil {
		return err
	}
	var keep uint64
	for _, name := range b.Capabilities {
		bit, ok := capabilities[name]
		if !ok {
			return fmt.Errorf("capability %s", name)
		}
		keep |= 1 << bit
	}
	for bit := 0; bit <= unix.CAP_LAST_CAP; bit++ {
		if keep&(1<<bit) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(bit), 0, 0, 0)
		}
	}
	if b.User != 0 {
		if err := syscall.Setuid(b.User); err != nil {
			return err
		}
	} else if err := restrict(keep); err != nil {
		return err
	}
	if b.NoNew {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	if b.Dies {
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
			return err
		}
	}
	return unix.Exec(b.Command[0], b.Command, []string{"PATH=/"})
}

// restrict leaves the thread with some capabilities.
func restrict(keep uint64) error {
	data := [2]unix.CapUserData{
		{Effective: uint32(keep), Permitted: uint32(keep)},
		{Effective: uint32(keep >> 32), Permitted: uint32(keep >> 32)},
	}
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0])
}

// startTarget starts a program as the first one of a pid
// namespace, with files of its own and another user, and lets
// added containers share it.
func (c *cluster) startTarget(path string, args ...string) {
	t := c.t
	t.Helper()
	hidden := t.TempDir()
	const script = `mount -t tmpfs none "$1" && cp "$2" "$1/target" && chmod 755 "$1" "$1/target" && mount -t proc proc /proc &&
exe=$1/target && shift 2 && exec setpriv --reuid 1000 --regid 1000 --clear-groups "$exe" "$@"`
	cmd := exec.Command("unshare", append([]string{"--pid", "--mount", "--fork", "--kill-child",
		"sh", "-c", script, "sh", hidden, path}, args...)...)
	startNamespaces(t, cmd)
	t.Cleanup(func() {
		if c.target != 0 { // unshare can't end a process of another user
			_ = syscall.Kill(c.target, syscall.SIGKILL)
		}
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Skipf("this kernel does not list the children of a process: %v", err)
	}
	c.target = fixture.Must(strconv.Atoi(strings.TrimSpace(string(children))))(t)
}

// startNamespaces starts a command that makes namespaces, and
// waits until the program in them prints something.
func startNamespaces(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	said := &tail{}
	cmd.Stderr = said
	out := fixture.Must(cmd.StdoutPipe())(t)
	fixture.Must(cmd.StdinPipe())(t) // never ends
	if err := cmd.Start(); err != nil {
		t.Skipf("this machine does not permit namespaces: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Skipf("this machine does not permit namespaces: %s", said)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // so that the target never waits
}

// image makes the root of cpprof's image, and checks that this
// machine permits what a node does.
func (c *cluster) image() {
	c.t.Helper()
	c.root = newImage(c.t)
	(&box{Root: c.root, Target: c.target}).try(c.t)
}

// try skips a test if this machine does not permit such a container.
func (b *box) try(t *testing.T) {
	t.Helper()
	if out, err := b.command([]string{pluginPath, "--help"}).CombinedOutput(); err != nil {
		t.Skipf("this machine does not permit a container: %v: %s", err, out)
	}
}

// newImage makes the root of cpprof's image.
func newImage(t *testing.T) (root string) {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0") // the image has no libc
	// With the flags of internal/release, whose test finds the
	// packages in Go's cache.
	t.Setenv("GOFLAGS", "-trimpath -buildvcs=false -tags=nethttpomithttp2")
	root = t.TempDir()
	for _, folder := range []string{"dev", "proc", "sys", "tmp"} {
		fixture.Check(t, os.Mkdir(filepath.Join(root, folder), 0o777))
	}
	build := exec.Command("go", "build", "-o", filepath.Join(root, pluginPath), "./cmd/kubectl-cpprof")
	build.Dir = fixture.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(fixture.Cpprof(t))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, cpprofPath), text, 0o755)
	}
	fixture.Check(t, err)
	return root
}
