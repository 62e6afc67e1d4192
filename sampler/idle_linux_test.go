package sampler

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A machine whose processors all work has next to no idle one, whoever else is on it.
func TestIdleMeter(t *testing.T) {
	begin := time.Now()
	m := newIdleMeter(0)
	if _, ok := m.look(idlePeriod / 2); ok {
		t.Error("a look after half of the period tells something")
	}
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range runtime.NumCPU() {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	time.Sleep(3 * idlePeriod / 2)
	idle, ok := m.look(time.Since(begin))
	stop.Store(true)
	busy.Wait()
	if !ok || idle < 0 || idle > float64(runtime.NumCPU())/2 {
		t.Errorf("%v processors idle (%v) where all work", idle, ok)
	}
}
