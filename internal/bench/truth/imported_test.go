//go:build linux

package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
)

// The trace of a program, read in place of a recording, has the
// same shares of typed time as cpprof's own recording of the
// same seconds, class by class. The recording may be off by 5
// standard errors, which are estimated from its samples.
func TestTraceInPlaceOfARecordingLong(t *testing.T) {
	b := newTestBench(t)
	b.length, b.keep = 4*time.Second, t.TempDir()
	for _, workload := range []string{"rwmutex", "pipeline"} {
		c := b.observe(t, workload)
		base := filepath.Join(b.keep, workload+"-1")
		in := fixture.Must(interchange.Open(base+".trace", interchange.Auto))(t)
		r, err := in.Recording(interchange.Options{})
		in.Close()
		fixture.Check(t, err)
		o := views.Options{Span: views.Span{From: time.Unix(0, c.begin).Sub(r.Header.Start), To: time.Unix(0, c.end).Sub(r.Header.Start)}}
		classes := fixture.Must(views.Classes(r, o))(t)
		compared := 0
		for _, s := range classes {
			f := c.classes[s.Class]
			if f == nil || !strings.HasPrefix(s.Class, "go:main.") {
				continue
			}
			compared++
			part := s.Shares()
			share := func(times ...views.TypedTime) (sum float64) {
				for _, typed := range times {
					x, _ := part[typed].Float64()
					sum += x
				}
				return sum
			}
			for m, got := range map[measure]float64{
				shareRun: share(views.Run), shareReady: share(views.Load, views.Prio), shareLock: share(views.Monitor),
			} {
				g := &f.figures[m]
				if off := outside(got, g.least, g.most); math.Abs(off) > 0.01 {
					t.Errorf("%s: %s of %s is %.3f, but %.3f to %.3f by another reader of the trace", workload, measures[m].name, s.Class, got, g.least, g.most)
				}
				if m != shareRun && math.Abs(got-g.recorded) > g.bound*5/3+0.02 {
					t.Errorf("%s: %s of %s is %.3f in the trace and %.3f in the recording", workload, measures[m].name, s.Class, got, g.recorded)
				}
			}
		}
		if compared == 0 {
			t.Errorf("%s: no class of the program is in the trace and in the recording", workload)
		}
	}
}
