//go:build linux && (amd64 || arm64)

package heap_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A changed source reads a target, and changes what it has read.
type changed struct {
	heap.Source
	inHalt bool // change only what is read in a halt
	change func(r *memory.Range)
}

// A reader does that for one reader.
type reader struct {
	heap.Reader
	change func(r *memory.Range)
}

func (c reader) ReadRanges(rs []memory.Range) int {
	failed := c.Reader.ReadRanges(rs)
	for i := range rs {
		n := len(rs[i].Buf)
		if c.change(&rs[i]); len(rs[i].Buf) < n {
			failed++
		}
	}
	return failed
}

func (c *changed) ReadRanges(rs []memory.Range) int {
	if c.inHalt {
		return c.Source.ReadRanges(rs)
	}
	return reader{c.Source, c.change}.ReadRanges(rs)
}

func (c *changed) Halt(limit time.Duration, now func(heap.Reader, []heap.Thread) error, later func(heap.Reader, heap.Thread)) (
	time.Duration, int, error) {
	return c.Source.Halt(limit, func(r heap.Reader, ts []heap.Thread) error {
		return now(reader{r, c.change}, ts)
	}, func(r heap.Reader, t heap.Thread) { later(reader{r, c.change}, t) })
}

// A page that can't be read may have the pointer: nothing is claimed then.
func TestUnreadPage(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "stuck"), "forgotten", "4")
	x := attach(t, v.Pid(), heap.Config{MaxHalt: patient})
	if !pass(t, x) {
		t.Fatal("nothing is suspected")
	}
	x.Source = &changed{Source: x.Source, inHalt: true, change: func(r *memory.Range) {
		if len(r.Buf) > 1<<20 {
			r.Buf = r.Buf[:len(r.Buf)-4096]
		}
	}}
	fixture.Check(t, x.Prove(context.Background()))
	r := x.Result(nil)
	if n := found(r, sampledata.NotMoved)["main.receiver"]; n != 1 || len(r.Doubts) == 0 || len(found(r, sampledata.Stuck)) > 0 {
		t.Errorf("%d have not moved; doubts: %v; claims: %v", n, r.Doubts, found(r, sampledata.Stuck))
	}
}

// Memory of a hostile program, with pointers that lead anywhere
// and numbers that mean nothing, does no harm to an examination,
// and ends it in bounded time.
func TestHostileMemoryLong(t *testing.T) {
	fixture.Long(t)
	v := fixture.Start(t, fixture.Build(t, "stuck"))
	for seed := range uint64(60) {
		x := attach(t, v.Pid(), heap.Config{MaxHalt: patient, MaxMemory: 64 << 20})
		random := rand.New(rand.NewPCG(seed, 1))
		var pointers []uint64
		x.Source = &changed{Source: x.Source, change: func(r *memory.Range) {
			for range 1 + len(r.Buf)>>14 {
				if len(r.Buf) < 8 || random.IntN(1<<(seed%12)) > 0 {
					continue
				}
				at := r.Buf[random.IntN(len(r.Buf)/8)*8:]
				pointers = append(pointers, binary.LittleEndian.Uint64(at))
				w := pointers[random.IntN(len(pointers))]
				if random.IntN(4) == 0 {
					w = random.Uint64() >> random.IntN(64)
				}
				binary.LittleEndian.PutUint64(at, w)
			}
		}}
		if x.Pass(context.Background()) != nil {
			continue // it says what it can't read
		}
		if x.Suspects() > 0 {
			x.Prove(context.Background())
		}
		x.Result(nil)
	}
}
