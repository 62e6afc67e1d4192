package report

import (
	"io"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why"
)

// probeJSON is what was measured of one function, with what follows of it.
type probeJSON struct {
	*sampledata.Probe
	PerSecond float64    `json:"per_second"`
	Samples   why.Probed `json:"samples"`
}

// WriteJSON writes all that was measured. Times are in nanoseconds.
func (p *Probes) WriteJSON(w io.Writer) error {
	list := []probeJSON{}
	for i := range p.Recording.Probes {
		b := &p.Recording.Probes[i]
		one := probeJSON{Probe: b, Samples: why.SamplesOf(p.Recording, b)}
		if d := b.To - b.From; d > 0 {
			one.PerSecond = float64(b.Calls) * float64(time.Second) / float64(d)
		}
		list = append(list, one)
	}
	return writeJSON(w, struct {
		Probes []probeJSON `json:"probes"`
		Basis
	}{list, BasisOf(p.Recording)})
}
