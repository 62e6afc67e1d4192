package interchange

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// crashed runs a program until it has printed a line with a
// beginning, and a little longer, and crashes it. It returns the
// core dump that the system writes, and the lines.
func crashed(t *testing.T, program, last string, longer time.Duration) (core string, lines []string) {
	t.Helper()
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || bytes.ContainsAny(pattern, "|/") {
		t.Skipf("this system does not write core dumps into the program's folder: %q, %v", pattern, err)
	}
	folder := t.TempDir()
	c := exec.Command(program)
	c.Dir, c.Env = folder, append(os.Environ(), "GOTRACEBACK=crash")
	out := fixture.Must(c.StdoutPipe())(t)
	fixture.Check(t, c.Start())
	defer c.Process.Kill()
	printed := bufio.NewScanner(out)
	for printed.Scan() {
		lines = append(lines, printed.Text())
		if strings.HasPrefix(printed.Text(), last) {
			break
		}
	}
	fixture.Check(t, printed.Err())
	time.Sleep(longer)
	limit := unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_CORE, &limit, nil); err != nil {
		t.Skipf("core dumps can't be allowed here: %v", err)
	}
	fixture.Check(t, c.Process.Signal(syscall.SIGABRT))
	_ = c.Wait()
	files, err := filepath.Glob(filepath.Join(folder, "core*"))
	if err != nil || len(files) != 1 {
		t.Skipf("the system has written no core dump: %q, %v", files, err)
	}
	return files[0], lines
}

func readCoreOf(path, program string) (*sampledata.Recording, error) {
	in, err := Open(path, Auto)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.Recording(Options{Program: program})
}

// A core dump is one sample of all goroutines, with what they waited for.
func TestCoreDump(t *testing.T) {
	program, other := fixture.Build(t, "mutex"), fixture.Build(t, "lifecycle")
	var path string
	for longer := 10 * time.Millisecond; ; longer *= 2 { // its goroutines may not wait yet
		path, _ = crashed(t, program, "0x", longer)
		r := fixture.Must(readCoreOf(path, program))(t)
		fixture.Check(t, r.Check())
		if r.Samples.Len() != 1 || !r.Complete() || r.Header.Sampler.Backend != sampledata.FromDump || r.Header.PID == 0 {
			t.Fatalf("%d samples of %+v", r.Samples.Len(), r.Header)
		}
		missing := missingIn(t, r, "main.worker", "main.reader", "sync.Mutex.Lock", "sync.RWMutex.RLock", "sync.(*Mutex).lockSlow")
		if missing == "" {
			break
		}
		if longer > 10*time.Second {
			t.Fatalf("there is no %s", missing)
		}
	}
	for _, c := range []struct{ path, program, says string }{
		{path, "", "name the executable of the program that wrote it with --program"},
		{path, path, "reading"},
		{path, filepath.Join(t.TempDir(), "none"), "no such file"},
		{path, other, "core dump"},
	} {
		if _, err := readCoreOf(c.path, c.program); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s: %v; want %q", c.path, c.program, err, c.says)
		}
	}
	data := fixture.Must(os.ReadFile(path))(t)
	in := fixture.Must(Stream(bytes.NewReader(data), "standard input", Auto))(t)
	if _, err := in.Recording(Options{Program: program}); err == nil || !strings.Contains(err.Error(), "not a stream") {
		t.Errorf("of a stream: %v", err)
	}
}

// missingIn returns the first of some words that the text of a
// recording does not have; "" if it has them all.
func missingIn(t *testing.T, r *sampledata.Recording, words ...string) string {
	t.Helper()
	var text strings.Builder
	fixture.Check(t, sampledata.WriteText(&text, r))
	for _, word := range words {
		if !strings.Contains(text.String(), word) {
			return word
		}
	}
	return ""
}

// TestDamagedCoreDumpLong reads damaged copies of a core dump:
// each is refused, or what is left of it is sound.
func TestDamagedCoreDumpLong(t *testing.T) {
	fixture.LongInTurn(t, 0)
	program := fixture.Build(t, "mutex")
	path, _ := crashed(t, program, "0x", 10*time.Millisecond)
	data := fixture.Must(os.ReadFile(path))(t)
	copied := filepath.Join(t.TempDir(), "core")
	write := func(data []byte) {
		t.Helper()
		fixture.Check(t, os.WriteFile(copied, data, 0o666))
	}
	try := func(what string) {
		t.Helper()
		if r, err := readCoreOf(copied, program); err == nil {
			if err := r.Check(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	for _, size := range []int{20, 64, 300, 4000, len(data) / 8, len(data) / 2} {
		write(data[:size])
		try("cut")
	}
	write(data)
	file := fixture.Must(os.OpenFile(copied, os.O_WRONLY, 0))(t)
	defer file.Close()
	for at := int64(24); at < 1200; at += 97 {
		_, err := file.WriteAt([]byte{data[at] ^ 0xff}, at)
		try("changed")
		if _, again := file.WriteAt(data[at:at+1], at); err != nil || again != nil {
			t.Fatal(err, again)
		}
	}
}

// A cut core dump is an error, or incomplete, as other cut files are.
func TestCutCoresLong(t *testing.T) {
	fixture.Long(t)
	program := fixture.Build(t, "mutex")
	path, _ := crashed(t, program, "0x", 50*time.Millisecond)
	whole := fixture.Must(os.ReadFile(path))(t)
	cut := filepath.Join(t.TempDir(), "core")
	for i := range 12 {
		n := len(whole) - i*i*len(whole)/144
		fixture.Check(t, os.WriteFile(cut, whole[:n], 0o600))
		r, err := readCoreOf(cut, program)
		if complete := err == nil && r.Complete(); complete != (i == 0) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}
