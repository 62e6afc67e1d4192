//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// learns records a program for some samples, and returns how
// much it had to learn.
func learns(t *testing.T, path, dir string) int {
	t.Helper()
	v := fixture.Start(t, path)
	p := fixture.Must(sampler.Find(v.Pid()))(t)
	b := fixture.Must(Attach(p))(t)
	b.Remember(dir)
	sink := sampledata.NewBuilder(b.Header())
	for n := range 40 {
		time.Sleep(5 * time.Millisecond)
		b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Duration(n)})
	}
	fixture.Check(t, b.Close())
	return b.goroutines.finder.Spent()
}

// A second recording of a program knows what the first one has
// learned, unless the file is damaged.
func TestRemember(t *testing.T) {
	t.Parallel()
	path, dir := fixture.Build(t, "holders"), t.TempDir()+"/cache"
	first := learns(t, path, dir)
	second := learns(t, path, dir)
	if first == 0 || second > first/2 { // not all is kept: what goroutines are parked for is learned again
		t.Errorf("the first recording learned %d units, and the second one %d", first, second)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	fixture.Check(t, os.Truncate(dir+"/"+files[0].Name(), 100))
	if third := learns(t, path, dir); third < first/2 {
		t.Errorf("the first recording learned %d units, and the one after the damage %d", first, third)
	}
}

// Nothing is kept of a program whose addresses differ from run
// to run, and nothing in a folder that others can write to.
func TestRememberNothingLong(t *testing.T) {
	fixture.Long(t)
	dir := t.TempDir()
	learns(t, fixture.Build(t, "holders", "-buildmode=pie"), dir)
	fixture.Check(t, os.Chmod(dir, 0o777))
	learns(t, fixture.Build(t, "holders"), dir)
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}
