//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// inContainer starts a target in its own mount and process
// namespaces, in which a file system hides the folder with its
// executable. It returns the target's pid outside.
func inContainer(t *testing.T, path string, args ...string) int {
	t.Helper()
	dir := t.TempDir()
	const script = `mount -t tmpfs none "$1" && cp "$2" "$1/target" && shift 2 && exec "$0" "$@"`
	inside := filepath.Join(dir, "target")
	cmd := exec.Command("unshare", append([]string{"--pid", "--mount", "--fork", "--kill-child",
		"sh", "-c", script, inside, dir, path}, args...)...)
	var why bytes.Buffer
	cmd.Stderr = &why
	out := fixture.Must(cmd.StdoutPipe())(t)
	fixture.Must(cmd.StdinPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Skipf("there is no unshare to make namespaces with: %v", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Skipf("this machine doesn't permit namespaces: %s", why.String())
	} else if !strings.HasPrefix(line, "ready ") {
		t.Fatalf("the target said %q", line)
	}
	if _, err := os.Stat(inside); err == nil {
		t.Fatalf("%s can be seen from outside", inside)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		t.Skip(err)
	}
	return fixture.Must(strconv.Atoi(strings.TrimSpace(string(children))))(t)
}

// A target in a container has other thread and process ids
// inside, and its executable can be opened only as
// /proc/PID/exe.
func TestNamespaces(t *testing.T) {
	pid := inContainer(t, build(t), "-parked=50", "-threads=3", "-busy=1")
	b := attachTo(t, pid)
	r := recordUntil(t, b, func(r *sampledata.Recording) bool {
		return r.Samples.Len() >= 30 && seen(r, "main.compute")["running"] >= 10
	})
	n := r.Samples.Len()
	if got := seen(r, "main.park"); got["waiting chan receive"] != 50*n {
		t.Errorf("parked goroutines were seen %v in %d samples", got, n)
	}
	if got := seen(r, "main.compute"); got["running"] < 10 {
		t.Errorf("a goroutine that computes was seen %v in %d samples", got, n)
	}
	if got := seen(r, "main.read"); got["waiting syscall"] < 3*n*9/10 {
		t.Errorf("goroutines in system calls were seen %v in %d samples", got, n)
	}
}
