package sampler

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// While all processors are busy, the meter reads next to no idle
// ones, whatever else the machine does.
func TestIdleMeter(t *testing.T) {
	begin := time.Now()
	m := newIdleMeter(0)
	if _, ok := m.read(idlePeriod / 2); ok {
		t.Error("a reading after half of the period was accepted")
	}
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range runtime.NumCPU() {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	time.Sleep(idlePeriod)
	idle, ok := m.read(time.Since(begin))
	stop.Store(true)
	busy.Wait()
	if !ok || idle < 0 || idle > float64(runtime.NumCPU())/2 {
		t.Errorf("%v processors idle (%v) while all work", idle, ok)
	}
}
