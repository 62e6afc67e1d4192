package why

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Two goroutines are in main.work in every other of 20 samples;
// 100 calls in 200 ms: by Little's law, 1 * 200 ms / 100 calls.
func TestSamplesOfAProbedFunction(t *testing.T) {
	var b strings.Builder
	b.WriteString("cpprof recording 1\nfunction f0 main.main\nfunction f1 main.work\nfunction f2 main.leaf\n" +
		"node n0 f0\nnode n1 f1 under=n0\nnode n2 f2 under=n1\ngoroutine g0 1 start=f0\ngoroutine g1 2 start=f0\n")
	for i := range 30 {
		b.WriteString("sample " + (time.Duration(i) * 10 * time.Millisecond).String() + "\n")
		switch {
		case i%2 == 0:
			b.WriteString(" g0 running n2\n g1 waiting n1\n")
		default:
			b.WriteString(" g0 running n0\n g1 waiting n0\n")
		}
	}
	r := fixture.Must(sampledata.ReadText(strings.NewReader(b.String())))(t)
	p := &sampledata.Probe{Function: "main.work", From: 40 * time.Millisecond, To: 240 * time.Millisecond, Calls: 100}
	got := SamplesOf(r, p)
	if got.Samples != 20 || got.Inside != 1 || got.Mean != 2*time.Millisecond || got.Running != 0.5 || got.Waiting != 0.5 {
		t.Errorf("%+v", got)
	}
	// The number in it is 2 or 0: its standard deviation is 1,
	// and half the interval 2.09 / sqrt(19), by Student's
	// distribution.
	if got.Margin < 0.47 || got.Margin > 0.49 || got.MeanMargin/time.Microsecond != 960 {
		t.Errorf("margins %v, %v", got.Margin, got.MeanMargin)
	}
	if never := SamplesOf(r, &sampledata.Probe{Function: "main.never", To: time.Second}); never.Inside != 0 || never.Mean != 0 {
		t.Errorf("%+v", never)
	}
}
