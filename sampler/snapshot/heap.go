//go:build linux && (amd64 || arm64)

package snapshot

import (
	"os"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/sampler/holders/lockname"
)

// Examine prepares to find out which goroutines of the target
// can never run again. The config has the limits. Samples may be
// taken meanwhile, and the examination must end before Close.
func (b *Backend) Examine(c heap.Config) (*heap.Examination, error) {
	c.Source, c.Binary, c.Reasons, c.Outer = heap.OfProcess(b.t.Process), b.t.bin, b.t.reasons,
		halt.NewNumbers(b.t.Process).Outer
	c.Namer, c.ThreadTime = b.namer, halt.ThreadTime
	return heap.New(c)
}

// newNamer opens the target's debug information.
func (b *Backend) newNamer() (n *lockname.Namer, err error) {
	if b.exe, err = os.Open(b.t.Path("exe")); err != nil {
		return nil, err
	}
	return lockname.New(b.exe, b.t.bin.Bias, b.t.Read)
}
