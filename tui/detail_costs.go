package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// costs returns the lines on an entry's cost; in a comparison, on its cost in
// each of the two recordings, as in its row.
func (d *detail) costs(e *refine.Entry) []string {
	tree := d.w.session.Tree()
	d.w.intervals.want([]row{{entry: e}})
	of, _ := d.w.intervals.get(row{entry: e})
	if !d.w.compares() {
		return costLines("", e.Total, tree.Main(), of[0])
	}
	costs, known := d.w.both.costs.get(row{entry: e})
	if !known {
		return []string{"…"}
	}
	a, b := tree.Sides()
	return append(costLines("old: ", costs.InOld, b.Main(), of[1]),
		costLines("new: ", costs.InNew, a.Main(), of[0])...)
}

// costLines returns the lines on one cost, as a fraction of a metric's
// denominator. Its interval is nil if there is none, or not yet.
func costLines(head string, t calltree.Total, m *calltree.Metric, i *hotspots.Estimate) []string {
	cost := m.Cost(t.Weight)
	what := cost.RatString() + ", of " + report.Whole(m)
	if m.Unit == views.Nanoseconds {
		what = report.Nanoseconds(t.Weight) + " of " + report.Whole(m)
	}
	text := fmt.Sprintf("%shits %s of %s", head, t.Hits.RatString(),
		report.Hits(m.Hits().Denominator))
	if i != nil {
		text += fmt.Sprintf(", 95 %% interval of the cost %.3f to %.3f", i.Low, i.High)
	}
	return []string{fmt.Sprintf("%scost %s = %s", head, report.Cost(cost), what), text}
}

// samples returns the lines on the number of samples that the view counts,
// including those without the entry.
func (d *detail) samples() []string {
	span := d.w.a.options.Span
	if !d.w.compares() {
		return []string{samplesLine("the view", d.w.a.recording, span)}
	}
	return []string{samplesLine("old", d.w.other, span), samplesLine("new", d.w.a.recording, span)}
}

func samplesLine(of string, r *sampledata.Recording, span views.Span) string {
	from, to, err := span.Samples(r)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s counts %s", of, report.Counted(to-from, "sample"))
	if span != zeroSpan {
		text += fmt.Sprintf(" of %d: %s", r.Samples.Len(), spanText(span))
	}
	return text
}
