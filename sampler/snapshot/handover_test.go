//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/bench/holders/holdertest"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Offsets in the tables of testdata/programs/holders convoy.
const (
	convoySize   = 24 // size of a sync.Mutex with the fields after it
	convoyTurn   = 8  // contest.turn
	convoyOwner  = 16 // contest.owner
	convoyLog    = 24 // contest.log
	convoyLogLen = 1 << 14
)

// A convoy is the running program, and the score of what was
// reported about its locks.
type convoy struct {
	b      *Backend
	kinds  map[uint64]string // of the sync.Mutexes, by address
	scores holdertest.Scores
}

func openConvoy(t testing.TB, b *Backend, line string) *convoy {
	t.Helper()
	c := &convoy{b: b, kinds: map[uint64]string{}}
	var addr, size uint64
	if _, err := fmt.Sscanf(line, "0x%x %d", &addr, &size); err != nil {
		t.Fatalf("the program said %q: %v", line, err)
	}
	for i, kind := range strings.Fields(line)[2:] {
		c.kinds[addr+uint64(i)*size] = kind
	}
	c.reset()
	return c
}

func (c *convoy) reset() {
	c.scores = holdertest.Scores{handedOver: {}}
	for _, kind := range c.kinds {
		c.scores[kind] = &holdertest.Score{}
	}
}

// contended returns the number of waiters for whose lock the
// holder is known.
func (c *convoy) contended() (n int) {
	for _, s := range c.scores {
		n += s.Contended()
	}
	return n
}

func (c *convoy) word(t testing.TB, addr uint64) uint64 {
	t.Helper()
	return fixture.Must(c.b.t.word(addr))(t)
}

// await waits until the word at an address is greater than was.
func (c *convoy) await(t testing.TB, addr, was uint64) uint64 {
	t.Helper()
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(100 * time.Microsecond) {
		if now := c.word(t, addr); now > was {
			return now
		}
	}
	t.Skip("this machine is too busy: a lock did not change hands for 10 s")
	return 0
}

// waiters returns the goroutines that wait for a lock in the last sample.
func (c *convoy) waiters(lock uint64) (list []*slot) {
	for i := range c.b.goroutines.table.slots {
		if s := &c.b.goroutines.table.slots[i]; s.announced && s.state.Run == sampledata.Blocked && s.state.Lock == lock {
			list = append(list, s)
		}
	}
	return list
}

// holdersOf returns the numbers of the goroutines that a state
// names as holders.
func holdersOf(r *sampledata.Recording, st *sampledata.State) (ids []int64) {
	for _, g := range r.HolderSets[st.Holders] {
		ids = append(ids, r.Goroutines.At(g).ID)
	}
	slices.Sort(ids)
	return ids
}

// judge compares what was reported about a sync.Mutex with its
// owner during the halt, as the halt read it.
func (c *convoy) judge(t testing.TB, r *sampledata.Recording, lock memory.Range) {
	kind := c.kinds[lock.Addr]
	waiters := c.waiters(lock.Addr)
	if len(lock.Buf) < convoySize || c.b.capture.processors.changed {
		return
	}
	state, sema := binary.LittleEndian.Uint32(lock.Buf), binary.LittleEndian.Uint32(lock.Buf[goruntime.MutexSema:])
	turn := binary.LittleEndian.Uint64(lock.Buf[convoyTurn:])
	want := []int64{int64(binary.LittleEndian.Uint64(lock.Buf[convoyOwner:]))}
	s := c.scores[kind]
	switch now := uint64(0); {
	case want[0] != 0:
	case state&goruntime.MutexLocked != 0:
		s.Changed += len(waiters) // the lock was just taken, or is about to be released
		return
	case state&(goruntime.MutexStarving|goruntime.MutexWoken) == goruntime.MutexStarving && sema == 0:
		if now = c.await(t, lock.Addr+convoyTurn, turn); now-turn >= convoyLogLen {
			return
		}
		want[0] = int64(c.word(t, lock.Addr+convoyLog+8*((turn+1)%convoyLogLen)))
		s = c.scores[handedOver]
	default:
		want = nil // nobody holds it
	}
	for _, w := range waiters {
		switch {
		case w.halted != c.b.goroutines.account.number && w.stood != c.b.goroutines.account.number:
			s.Changed++
		case want == nil && w.state.Evidence != sampledata.Inferred:
			s.Changed++
		default:
			if got := holdersOf(r, &w.state); !s.Add(w.state.Evidence, got, want) {
				t.Errorf("%s: %v is said to hold the lock at %#x, and it is %v (%s)", kind, got, w.state.Lock, want, w.state.Reason)
			}
		}
	}
}

// handedOver is the kind of lock under which waiters are counted
// whose lock was being handed over.
const handedOver = "handed over"

// judgeConvoy samples the program until at least so many
// goroutines were seen waiting while their lock was being handed
// over. It compares what was reported about the locks with what
// the program says.
func judgeConvoy(t testing.TB, path string, least int) holdertest.Scores {
	t.Helper()
	v := fixture.Start(t, path, "convoy")
	b := open(t, v.Pid())
	c := openConvoy(t, b, v.Line)
	sink := sampledata.NewBuilder(b.Header())
	for start, n := time.Now(), 0; n <= holdertest.WarmUp || c.scores[handedOver].Contended() < least || c.contended() < 25*least; n++ {
		if time.Since(start) > time.Minute {
			t.Skip("this machine is too busy, or not busy enough: locks are hardly ever handed over during a halt")
		}
		time.Sleep(5 * time.Millisecond)
		if _, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Since(start)}); err != nil {
			continue
		}
		if n == holdertest.WarmUp {
			c.reset()
		}
		for _, lock := range b.goroutines.finder.FirstReads() {
			if c.kinds[lock.Addr] != "" {
				c.judge(t, sink.Recording(), lock)
			}
		}
	}
	fixture.Check(t, sink.Finish(sampledata.End{}))
	fixture.Check(t, sink.Recording().Check())
	return c.scores
}

// TestHandover checks the reported holders of locks that change
// hands all the time, and of locks that are being handed over.
func TestHandoverLong(t *testing.T) {
	fixture.Long(t)
	judgedHandover(t, judgeConvoy(t, fixture.Build(t, "holders"), 200))
}

// judgedHandover checks scores like judged. A lock that is being
// handed over does not always have a holder: between the two
// steps of Unlock, nobody knows who will get it.
func judgedHandover(t *testing.T, scores holdertest.Scores) {
	t.Helper()
	judged(t, scores)
	s := scores[handedOver]
	if right, _ := s.Named(); right*4 < s.Contended() {
		t.Errorf("of %d that waited while a lock was handed over, %d got the name of its holder, want a quarter", s.Contended(), right)
	}
}
