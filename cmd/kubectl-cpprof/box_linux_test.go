package main

import (
	"encoding/json"
	"fmt"
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

// A box is what a node makes of a container's description: a root folder, the
// processes that it shares, its user's capabilities.
type box struct {
	Root, Name   string
	Target       int
	User         int
	Capabilities []string
	NoNew        bool
	Command      []string
}

// box returns the box of a container.
func (c *cluster) box(container object) *box {
	b := &box{Root: c.root, Name: container["name"].(string), Target: c.target, User: 1000}
	if container["targetContainerName"] != "server" {
		c.t.Errorf("the container shares the processes of %v", container["targetContainerName"])
	}
	rights, _ := container["securityContext"].(object)
	if user, ok := rights["runAsUser"].(float64); ok {
		b.User = int(user)
	}
	b.NoNew = rights["allowPrivilegeEscalation"] == false
	asked, _ := rights["capabilities"].(object)
	if !slices.Equal(texts(asked["drop"]), []string{"ALL"}) {
		c.t.Errorf("capabilities %v", asked)
	}
	b.Capabilities = texts(asked["add"])
	return b
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
	cmd := exec.Command("nsenter", "--target", strconv.Itoa(b.Target), "--pid", "--", self)
	cmd.Env = []string{boxVar + "=" + string(text)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

var capabilities = map[string]int{
	"SYS_PTRACE": unix.CAP_SYS_PTRACE, "DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE,
}

// enter makes this process the program of a box.
func enter(text string) error {
	var b box
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", filepath.Join(b.Root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting proc: %w", err)
	}
	if err := unix.Mount("/dev", filepath.Join(b.Root, "dev"), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting dev: %w", err)
	}
	own := filepath.Join(b.Root, "own", b.Name)
	if err := os.MkdirAll(own, 0o777); err != nil {
		return err
	}
	if err := unix.Mount(own, filepath.Join(b.Root, "tmp"), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting tmp: %w", err)
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

// startTarget starts a program as the first one of a pid namespace, with files
// of its own and another user, and lets added containers share it.
func (c *cluster) startTarget(path string, args ...string) {
	t := c.t
	t.Helper()
	hidden := t.TempDir()
	const script = `mount -t tmpfs none "$1" && cp "$2" "$1/target" && chmod 755 "$1" "$1/target" && mount -t proc proc /proc &&
exe=$1/target && shift 2 && exec setpriv --reuid 1000 --regid 1000 --clear-groups "$exe" "$@"`
	cmd := exec.Command("unshare", append([]string{"--pid", "--mount", "--fork", "--kill-child",
		"sh", "-c", script, "sh", hidden, path}, args...)...)
	said := &tail{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // never ends
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no unshare, which makes namespaces: %v", err)
	}
	t.Cleanup(func() {
		if c.target != 0 { // unshare can't end a process of another user
			_ = syscall.Kill(c.target, syscall.SIGKILL)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Skipf("this machine does not permit namespaces: %s", said)
	}
	go func() { // so that the target never waits
		for b := make([]byte, 1<<10); err == nil; _, err = out.Read(b) {
		}
	}()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Skipf("this kernel does not list the children of a process: %v", err)
	}
	if c.target, err = strconv.Atoi(strings.TrimSpace(string(children))); err != nil {
		t.Fatal(err)
	}
}

// image makes the root of cpprof's image, and checks that this machine permits
// what a node does.
func (c *cluster) image() {
	t := c.t
	t.Helper()
	t.Setenv("CGO_ENABLED", "0") // the image has no libc
	c.root = t.TempDir()
	for _, folder := range []string{"dev", "proc", "tmp"} {
		if err := os.Mkdir(filepath.Join(c.root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(c.root, pluginPath), "./cmd/kubectl-cpprof")
	build.Dir = fixture.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(fixture.Cpprof(t))
	if err == nil {
		err = os.WriteFile(filepath.Join(c.root, cpprofPath), text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	try := (&box{Root: c.root, Target: c.target}).command([]string{pluginPath, "--help"})
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("this machine does not permit a container: %v: %s", err, out)
	}
}
