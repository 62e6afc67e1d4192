package sampledata

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A sample is in the files a second later, even if no other
// sample follows.
func TestFlushedWithinASecond(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.cpprof")
	synctest.Test(t, func(t *testing.T) {
		w := fixture.Must(Create(name, testHeader()))(t)
		start := time.Now()
		g := w.Goroutine(Goroutine{ID: 1, Start: -1})
		var taken []time.Duration
		for i := range 100 {
			// Gaps from 10 ms to 3 s.
			gap := time.Duration(i%10*i%300+1) * 10 * time.Millisecond
			s := Sample{Time: time.Since(start)}
			fixture.Check(t, w.Sample(s, []Change{{Goroutine: g, State: State{Stack: NoStack, Priority: int32(i)}}}))
			w.Warn("late", "", 1)
			time.Sleep(gap)
			synctest.Wait()
			r := fixture.Must(Open(name))(t)
			taken = append(taken, s.Time)
			if n := r.Samples.Len(); n <= i && time.Since(start)-taken[n] > time.Second {
				t.Fatalf("after %v, the sample of %v is not in the files", time.Since(start), taken[n])
			}
			if r.Samples.Len() > 0 && (len(r.Warnings) != 1 || r.Warnings[0].Count < int64(r.Samples.Len()) || r.Warnings[0].Kind != "late") {
				t.Fatalf("%d samples, but warnings %v", r.Samples.Len(), r.Warnings)
			}
		}
		fixture.Check(t, w.Close())
		r, err := Open(name)
		if err != nil || r.Samples.Len() != 100 || r.End != nil {
			t.Fatalf("%v, %d samples, end %v", err, r.Samples.Len(), r.End)
		}
	})
}

// If this environment variable is set, the test binary becomes a
// sampler that records into the folder that it names.
const samplerFolder = "CPPROF_TEST_SAMPLER_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(samplerFolder); dir != "" {
		fmt.Fprintln(os.Stderr, sampleForever(dir))
		os.Exit(1)
	}
	fixture.Main(m)
}

// sampleForever writes a sample every millisecond, and prints
// the number of samples so far, a line each.
func sampleForever(dir string) error {
	w, err := Create(dir, testHeader())
	if err != nil {
		return err
	}
	start := time.Now()
	for i := int64(0); ; i++ {
		f := w.Function(Function{Name: "f" + strconv.FormatInt(i, 10)})
		n := w.Node(Node{Parent: NoStack, Function: f})
		g := w.Goroutine(Goroutine{ID: i, Start: f})
		changes := []Change{{Goroutine: g, State: State{Stack: n, Run: Running}}}
		if g >= 10 {
			changes = append(changes, Change{Goroutine: g - 10, Gone: true})
		}
		if err := w.Sample(Sample{Time: time.Since(start), Processors: []GoroutineID{g}}, changes); err != nil {
			return err
		}
		fmt.Println(i + 1)
		time.Sleep(time.Millisecond)
	}
}

// If a sampler is killed at any time, its recording is valid up
// to the last flush.
func TestKilledSampler(t *testing.T) {
	for _, atLeast := range []int64{1, 50, 700, 1500} {
		t.Run(strconv.FormatInt(atLeast, 10), func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "r.cpprof")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), samplerFolder+"="+name)
			cmd.Stderr = os.Stderr
			out := fixture.Must(cmd.StdoutPipe())(t)
			fixture.Check(t, cmd.Start())
			lines := bufio.NewScanner(out)
			taken := int64(0)
			killed := false
			for lines.Scan() {
				taken = fixture.Must(strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64))(t)
				if taken >= atLeast && !killed {
					killed = true
					fixture.Check(t, cmd.Process.Kill())
				}
			}
			fixture.Check(t, lines.Err())
			if err := cmd.Wait(); err == nil {
				t.Fatal("the sampler ended by itself")
			}
			r := fixture.Must(Open(name))(t)
			fixture.Check(t, r.Check())
			n := r.Samples.Len()
			t.Logf("%d samples taken, %d read, warnings %v", taken, n, r.Warnings)
			if r.End != nil || int64(n) > taken+1 || atLeast > 1000 && n == 0 {
				t.Errorf("%d samples of %d, end %v", n, taken, r.End)
			}
			for i, p := range r.Samples.All() {
				if p.Processors[0] != GoroutineID(i) {
					t.Fatalf("sample %d has goroutine %d", i, p.Processors[0])
				}
			}
		})
	}
}
