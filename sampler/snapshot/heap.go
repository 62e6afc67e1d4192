//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/heap"
)

// Examine prepares to find out which goroutines of the target can never run
// again. The config has the limits. Samples may be taken meanwhile,
// and the examination must end before Close.
func (b *Backend) Examine(c heap.Config) (*heap.Examination, error) {
	c.Source, c.Binary, c.Reasons, c.Outer = heap.OfProcess(b.t.Process), b.t.bin, b.t.reasons,
		halt.NewNumbers(b.t.Process).Outer
	return heap.New(c)
}
