package sampler

import (
	"time"

	"github.com/cpprof/cpprof/sampler/monitor"
)

// lateReading is how long after a sample was to begin its monitors
// are late, as on an overloaded machine.
const lateReading = time.Second

// measure reads the monitors for a sample. What is read late is
// of another moment: the next sample has it, unless that is late, too.
func (r *recorder) measure() {
	r.unread = nil
	if r.late = !r.late && r.sampled && r.o.Clock()-r.at > lateReading; !r.late {
		r.unread = r.monitors.Measure(r.sink)
	}
}

// openMonitors opens the sources of monitors. What it costs to
// find variables in the debug information counts as learned.
func (r *recorder) openMonitors() (err error) {
	before := ProcessorTime()
	t := monitor.Target{PID: r.process.PID, Binary: r.backend.Binary(), Seen: r.backend.Seen,
		ReadAlso: r.backend.ReadAlso}
	r.monitors, err = monitor.Open(t, r.o.Monitors)
	r.opening = ProcessorTime() - before
	r.pace.chargeOnce(r.backend.Learned() + r.opening)
	return err
}
