package report

import (
	"io"
	"time"

	"github.com/cpprof/cpprof/internal/metrics"
)

// Samples are the values of metrics, sample by sample, for JSON.
type Samples struct {
	rows []sampleRow
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
	s.rows = append(s.rows, row)
}

// WriteJSON writes the samples as JSON; what is undefined is null.
func (s *Samples) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Samples []sampleRow `json:"samples"`
		Basis
	}{s.rows, s.Basis})
}
