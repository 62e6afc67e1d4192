//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A goroutine that holds a lock is seen in the halt, also if it
// is in a system call: it may be gone when it is read again.
func TestHolderInSystemCall(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "states"), "slowcall")
	b := open(t, v.Pid())
	sink := sampledata.NewBuilder(b.Header())
	for n := range 1000 {
		time.Sleep(5 * time.Millisecond)
		if _, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Duration(n)}); err != nil || n < 20 {
			continue // at first, the halt sees it because it has moved lately
		}
		for i := range b.goroutines.table.slots {
			s := &b.goroutines.table.slots[i]
			if !s.announced || s.state.Run != sampledata.Blocked || s.state.Evidence != sampledata.Inferred {
				continue
			}
			for _, holder := range sink.Recording().HolderSets[s.state.Holders] {
				for k := range b.goroutines.table.slots {
					if h := &b.goroutines.table.slots[k]; h.announced && h.id == holder && h.halted != b.goroutines.account.number {
						t.Errorf("goroutine %d holds the lock, and the halt did not see it", h.head.goid)
					}
				}
			}
			return
		}
	}
	t.Fatal("nobody was named as the holder")
}
