package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
)

// Quantity formats a number with a few digits and its unit. It shows times and bytes in a larger unit if that is shorter.
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

// signed formats a number with show, which is only called with its absolute value.
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

// valueText formats a value of a monitor.
func valueText(m *sampledata.Monitor, v sampledata.Value) string {
	if x, ok := v.Float(); ok {
		return Quantity(x, m.Unit)
	}
	return termtext.Printable(v.String())
}

// seriesLine summarises a series in one line.
func seriesLine(r *sampledata.Recording, id sampledata.MonitorID) string {
	m, s := &r.Series[id].Monitor, r.SeriesStats(id)
	name := fmt.Sprintf("%s (%s)", termtext.Printable(m.Name), m.Layer)
	switch {
	case m.Unmeasured != "":
		return name + " was not measured: " + termtext.Printable(m.Unmeasured)
	case s.Samples == 0:
		return name + " was not measured in any sample"
	}
	var parts []string
	if m.Kind == sampledata.Nominal {
		parts = append(parts, Counted(len(r.Series[id].Words), "word"))
	} else {
		parts = append(parts, "from "+valueText(m, s.Min)+" to "+valueText(m, s.Max))
	}
	if rate, ok := s.Rate.Float(); ok {
		parts = append(parts, Quantity(rate, m.Unit)+" a second")
	}
	if s.Restarts > 0 {
		parts = append(parts, "restarted "+Counted(s.Restarts, "time"))
	}
	return fmt.Sprintf("%s: %s; at last %s; %s", name, strings.Join(parts, ", "), valueText(m, s.Last), Counted(s.Samples, "sample"))
}

// seriesJSON is a series for JSON. Numbers that were not measured are null.
type seriesJSON struct {
	Name       string `json:"name"`
	Layer      string `json:"layer"`
	Kind       string `json:"kind"`
	Unit       string `json:"unit"`
	Source     string `json:"source"`
	Resolution string `json:"resolution"`
	Unmeasured string `json:"unmeasured"`
	Samples    int    `json:"samples"`
	Min        any    `json:"min"`
	Max        any    `json:"max"`
	Last       any    `json:"last"`
	Rate       any    `json:"rate"` // of a counter: increase per second
	Restarts   int    `json:"restarts"`
}

// seriesOf lists the series for JSON.
func seriesOf(r *sampledata.Recording) []seriesJSON {
	list := make([]seriesJSON, len(r.Series))
	for i := range list {
		m, s := &r.Series[i].Monitor, r.SeriesStats(sampledata.MonitorID(i))
		list[i] = seriesJSON{
			Name: m.Name, Layer: m.Layer.String(), Kind: m.Kind.String(), Unit: m.Unit, Source: m.Source, Resolution: m.Resolution,
			Unmeasured: m.Unmeasured, Samples: s.Samples, Min: valueOf(s.Min), Max: valueOf(s.Max), Last: valueOf(s.Last),
			Rate: valueOf(s.Rate), Restarts: s.Restarts,
		}
	}
	return list
}

// valueOf converts a value for JSON: to an exact number or a word. Infinities, for which JSON has no numbers, become words.
func valueOf(v sampledata.Value) any {
	x, isNumber := v.Float()
	switch {
	case !v.Measured():
		return nil
	case isNumber && !math.IsInf(x, 0):
		return json.Number(v.String())
	}
	return v.String()
}
