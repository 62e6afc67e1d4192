package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
)

// Quantity formats a number with a few digits and its unit. It
// shows times and bytes in a larger unit if that is shorter.
func Quantity(x float64, unit string) string {
	switch {
	case x == 0:
		return "0"
	case unit == "ns" && math.Abs(x) < math.MaxInt64:
		return signed(x, func(x float64) string { return span(time.Duration(x)) })
	case unit == "bytes":
		return signed(x, bytesText)
	case unit == "":
		return fmt.Sprintf("%.4g", x)
	}
	return fmt.Sprintf("%.4g %s", x, termtext.Printable(unit))
}

// signed formats a number with show, which is only called with
// its absolute value.
func signed(x float64, show func(float64) string) string {
	if x < 0 {
		return "-" + show(-x)
	}
	return show(x)
}

func bytesText(x float64) string {
	const step = 1024
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; x >= step && i+1 < len(units); i++ {
		x /= step
	}
	if i == 0 {
		return fmt.Sprintf("%.4g B", x)
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}

// seriesLines says in a few lines what a recording has beside
// its stacks, what was not measured and why, and where to see
// more.
func seriesLines(path string, r *sampledata.Recording) []string {
	if len(r.Series) == 0 {
		return nil
	}
	byLayer := make(map[sampledata.Layer]int)
	var reasons []string
	lacking := make(map[string][]string) // by reason: the names
	for i := range r.Series {
		m := &r.Series[i].Monitor
		byLayer[m.Layer]++
		reason := m.Unmeasured
		if reason == "" && r.Series[i].Changes() == 0 {
			reason = "in no sample"
		}
		if reason == "" {
			continue
		}
		if lacking[reason] == nil {
			reasons = append(reasons, reason)
		}
		lacking[reason] = append(lacking[reason], termtext.Printable(m.Name))
	}
	layers := lists.Each(slices.Sorted(maps.Keys(byLayer)),
		func(l sampledata.Layer) string { return fmt.Sprintf("%s %d", l, byLayer[l]) })
	lines := []string{fmt.Sprintf("%d beside the stacks (%s); 'cpprof monitors %s' shows them",
		len(r.Series), strings.Join(layers, ", "), termtext.Printable(path))}
	for i, reason := range reasons {
		if i == fewReasons {
			return append(lines,
				fmt.Sprintf("not measured for %s", Counted(len(reasons)-i, "further reason")))
		}
		lines = append(lines,
			fmt.Sprintf("not measured: %s (%s)", words.List(lacking[reason], fewNames),
				termtext.Printable(reason)))
	}
	return lines
}

// How much is shown of what was not measured.
const (
	fewNames   = 4
	fewReasons = 6
)

// seriesJSON is a series for JSON.
type seriesJSON struct {
	sampledata.Monitor
	sampledata.SeriesStats
}

// seriesOf lists the series for JSON.
func seriesOf(r *sampledata.Recording) []seriesJSON {
	list := make([]seriesJSON, len(r.Series))
	for i := range list {
		list[i] = seriesJSON{r.Series[i].Monitor, r.SeriesStats(sampledata.MonitorID(i))}
	}
	return list
}

// Samples are the values of metrics, sample by sample, for JSON.
type Samples struct {
	Rows []sampleRow `json:"samples"`
	Basis
}

type sampleRow struct {
	Recording string             `json:"recording"`
	Sample    int                `json:"sample"`
	Time      time.Duration      `json:"time"` // nanoseconds since the start
	Values    map[string]float64 `json:"values"`
}

// Add adds a sample.
func (s *Samples) Add(recording string, sample int, at time.Duration, metrics []*metrics.Metric) {
	row := sampleRow{recording, sample, at, make(map[string]float64)}
	for _, m := range metrics {
		row.Values[m.Expr] = m.Column[sample]
	}
	s.Rows = append(s.Rows, row)
}

// WriteJSON writes the samples as JSON; what is undefined is null.
func (s *Samples) WriteJSON(w io.Writer) error { return writeJSON(w, s) }
