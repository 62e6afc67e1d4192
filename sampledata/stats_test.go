package sampledata

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Computed by hand: 5 states of goroutines in 3 samples, one of
// them torn, over 40 ms.
func TestStats(t *testing.T) {
	r, err := ReadText(strings.NewReader(`cpprof recording 1
function f0 f
node n0 f0
goroutine g0 1
goroutine g1 2
sample 10ms halt=300us threads=4 cpu=1ms missed=1
 g0 running n0
sample 20ms halt=100us threads=6 cpu=2ms reused=2 rechecked=2 wrong=1
 g1 waiting n0 torn
sample 30ms halt=200us threads=5 cpu=1ms reused=2 rechecked=2
 g1 running n0
warning torn-stack 1 here
end duration time=40ms`))
	fixture.Check(t, err)
	got := fixture.Must(json.Marshal(r.Stats()))(t)
	want := `{"samples":3,"duration_ns":40000000,"rate_hz":75,"goroutines":{"mean":1.6666666666666667,"max":2},"threads_max":6,` +
		`"halt_ns":{"median":200000,"p90":300000,"p99":300000,"max":300000,"total":600000},"halted_share":0.015,` +
		`"sampler_cpu_share":0.1,"reused_share":0.8,"reused_wrong_share":0.25,"torn_share":0.2,"missed_ticks":1}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An empty recording must not cause a division by 0.
func TestStatsOfNothing(t *testing.T) {
	got := fmt.Sprint(NewBuilder(Header{}).Recording().Stats())
	if want := fmt.Sprint(Stats{}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHaltQuantiles(t *testing.T) {
	b := NewBuilder(Header{})
	for i := range 300 {
		halt := time.Duration(max(0, 200-i)) // the target is idle in the last hundred
		fixture.Check(t, b.Sample(Sample{Halt: halt}, nil))
	}
	if got, want := b.Recording().Stats().Halt, (HaltStats{100, 180, 198, 200, 200 * 201 / 2}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
