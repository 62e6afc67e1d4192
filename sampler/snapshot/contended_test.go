//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// checkContended samples testdata/programs/contended. It checks
// that each goroutine that waits for a lock is reported as
// waiting for one of the program's locks, although most of them
// got their lock before the sample was complete.
func checkContended(t *testing.T, path string) {
	t.Helper()
	v := fixture.Start(t, path)
	b := open(t, v.Pid())
	var first, size, n uint64
	if _, err := fmt.Sscanf(v.Line, "0x%x %d %d", &first, &size, &n); err != nil {
		t.Fatalf("the program said %q: %v", v.Line, err)
	}
	sink := sampledata.NewBuilder(b.Header())
	for sample, waits := 0, 0; waits < 1000; sample++ {
		time.Sleep(time.Millisecond)
		if _, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Duration(sample)}); err != nil {
			continue
		}
		for i := range b.goroutines.table.slots {
			s := &b.goroutines.table.slots[i]
			if !s.announced || s.state.Run != sampledata.Blocked {
				continue
			}
			waits++
			if at := s.state.Lock - first; at >= size*n || at%size != 0 {
				t.Errorf("sample %d: goroutine %d waits for a lock at %#x (%s), which is none of the program's", sample, s.head.goid, s.state.Lock,
					s.state.Reason)
			}
		}
	}
}

func TestContendedLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	checkContended(t, fixture.Build(t, "contended"))
}
