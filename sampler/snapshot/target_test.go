//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// build builds testdata/target, once for each set of flags.
func build(t testing.TB, flags ...string) string {
	t.Helper()
	return fixture.BuildPackage(t, "./sampler/snapshot/testdata/target", flags...)
}

// A victim is a running target.
type victim struct {
	*exec.Cmd
	t     testing.TB
	in    io.Writer
	out   *bufio.Reader
	stuck uint64 // address of the mutex that is never unlocked

}

func begin(t testing.TB, path string, args ...string) *victim {
	t.Helper()
	r := &victim{Cmd: exec.Command(path, args...), t: t}
	r.Stderr = os.Stderr
	in := fixture.Must(r.StdinPipe())(t)
	out := fixture.Must(r.StdoutPipe())(t)
	fixture.Check(t, r.Start())
	r.in, r.out = in, bufio.NewReader(out)
	t.Cleanup(r.end)
	if _, err := fmt.Fscanf(r.out, "ready 0x%x\n", &r.stuck); err != nil {
		t.Fatalf("the target did not say that it is ready: %v", err)
	}
	return r
}

// end kills the target and waits for it.
func (r *victim) end() {
	r.Process.Kill()
	r.Wait()
}

// dump returns the runtime's own dump of the target's goroutines.
func (r *victim) dump() string {
	r.t.Helper()
	fmt.Fprintln(r.in, "dump")
	var n int
	fixture.Must(fmt.Fscanf(r.out, "dump %d\n", &n))(r.t)
	b := make([]byte, n+1)
	fixture.Must(io.ReadFull(r.out, b))(r.t)
	return string(b)
}

// attach prepares to sample a target, and waits until all its
// goroutines that wait forever have begun to wait.
func attach(t testing.TB, r *victim) *Backend {
	t.Helper()
	return attachTo(t, r.Process.Pid)
}

// open prepares to sample a process.
func open(t testing.TB, pid int) *Backend {
	t.Helper()
	p, err := sampler.Find(pid)
	if err != nil {
		t.Skipf("this machine doesn't permit it: %v", err)
	}
	t.Cleanup(p.Release)
	b := fixture.Must(Attach(p))(t)
	t.Cleanup(func() { b.Close() })
	return b
}

func attachTo(t testing.TB, pid int) *Backend {
	t.Helper()
	b := open(t, pid)
	var onTheWay map[int64]sampledata.Run
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		r := record(t, b, 1)
		onTheWay = last(r)
		maps.DeleteFunc(onTheWay, func(_ int64, run sampledata.Run) bool {
			return !forGood(r, run.Goroutine) || run.Run == sampledata.Waiting || run.Run == sampledata.Blocked
		})
		if len(onTheWay) == 0 {
			return b
		}
	}
	t.Fatalf("goroutines that are to wait for good don't: %v", onTheWay)
	return nil
}

// forGood reports whether a goroutine of the target waits
// forever once it has begun to wait. That may take long on a
// busy machine.
func forGood(r *sampledata.Recording, g sampledata.GoroutineID) bool {
	start := r.Goroutines.At(g).Start
	if start < 0 {
		return false
	}
	switch name := r.Functions[start].Name; name {
	case "main.park", "main.read", "runtime.main", "runtime/pprof.Do":
		return true
	default:
		return strings.HasPrefix(name, "main.main.func") // they wait for the mutex
	}
}

// record takes samples of a target.
func record(t testing.TB, b *Backend, n int) *sampledata.Recording {
	t.Helper()
	return recordUntil(t, b, func(r *sampledata.Recording) bool { return r.Samples.Len() >= n })
}

// recordUntil takes samples of a target until there are enough,
// or for a minute. It repeats a sample that failed on a busy
// machine.
func recordUntil(t testing.TB, b *Backend, enough func(*sampledata.Recording) bool) *sampledata.Recording {
	t.Helper()
	sink := sampledata.NewBuilder(b.Header())
	takeSamples(t, b, sink, enough)
	fixture.Check(t, sink.Finish(sampledata.End{}))
	r := sink.Recording()
	fixture.Check(t, r.Check())
	return r
}

func takeSamples(t testing.TB, b *Backend, sink *sampledata.Builder, enough func(*sampledata.Recording) bool) {
	t.Helper()
	since, failed := time.Now(), 0
	for !enough(sink.Recording()) && time.Since(since) < time.Minute {
		s := sampledata.Sample{Time: time.Since(since)}
		if _, err := b.Observe(context.Background(), sink, s); err != nil {
			if failed++; failed > 200 {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// frames lists a stack, innermost first: function, file and line.
func frames(r *sampledata.Recording, n sampledata.NodeID) []string {
	var out []string
	for ; n != sampledata.NoStack; n = r.Nodes[n].Parent {
		f := r.Functions[r.Nodes[n].Function]
		out = append(out, fmt.Sprintf("%s %s:%d", f.Name, filepath.Base(f.File), r.Nodes[n].Line))
	}
	return out
}

// last returns the state of each goroutine in the last sample, by goid.
func last(r *sampledata.Recording) map[int64]sampledata.Run {
	out := map[int64]sampledata.Run{}
	for _, run := range r.Runs.All() {
		if int(run.Last) == r.Samples.Len()-1 {
			out[r.Goroutines.At(run.Goroutine).ID] = run
		}
	}
	return out
}
