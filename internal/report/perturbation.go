package report

import (
	"fmt"
	"io"
	"math"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/termtext"
)

// A Perturbation is what recording a program changes in it.
type Perturbation struct {
	What    string           `json:"what"` // what is compared: "with and without a recording"
	Runs    string           `json:"runs"` // what the values are of: "5 runs each"
	Effects []metrics.Effect `json:"effects"`
}

// Write writes a line for each quantity: its mean without and
// with, the difference with its interval, and what to think of
// it.
func (p *Perturbation) Write(w io.Writer) {
	termtext.Fprintf(w, "%s, %s\n\n", p.What, p.Runs)
	t := table{}
	t.add("", "without", "with", "difference", "95 % interval", "")
	changed, compared := 0, 0
	for i := range p.Effects {
		e := &p.Effects[i]
		if !metrics.Defined(e.Difference) {
			t.add(termtext.Printable(e.Name), InUnit(e.Base, e.Unit), InUnit(e.Mean, e.Unit), "-", "-",
				"not measured in both")
			continue
		}
		interval := "-"
		if metrics.Defined(e.Low) {
			compared++
			interval = relative(e.Low, e.Base) + " to " + relative(e.High, e.Base)
		}
		if e.Differs {
			changed++
		}
		t.add(termtext.Printable(e.Name), InUnit(e.Base, e.Unit), InUnit(e.Mean, e.Unit),
			relative(e.Difference, e.Base), interval, verdict(e))
	}
	t.write(w)
	termtext.Fprintf(w,
		"\n%d of %d differ; of those that do, at most 5 %% are expected to do so by chance. Where none is seen,\nthe interval says how large a difference may be.\n", changed, compared)
}

// relative writes a difference as a share of what there is without.
func relative(x, base float64) string {
	if base == 0 || math.IsInf(x/base, 0) || !metrics.Defined(x/base) {
		if x == 0 {
			return "0 %"
		}
		return fmt.Sprintf("%+.3g", x)
	}
	return fmt.Sprintf("%+.1f %%", 100*x/math.Abs(base))
}

func verdict(e *metrics.Effect) string {
	switch {
	case !metrics.Defined(e.Low):
		return "too few values"
	case e.Differs && e.Difference > 0:
		return "more"
	case e.Differs:
		return "less"
	case e.Low > 0 || e.High < 0: // as one of many
		return "may be chance"
	}
	return "no difference seen"
}

// WriteJSON writes all quantities as JSON. What is undefined is null.
func (p *Perturbation) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		*Perturbation
		Basis
	}{p, BasisOf()})
}
