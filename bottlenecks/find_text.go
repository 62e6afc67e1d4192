package bottlenecks

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// A FoundReport is what Find found, for people and for JSON. Percentages have two decimals.
type FoundReport struct {
	Comparison      bool        `json:"comparison"`
	CoveragePercent json.Number `json:"coverage_percent"`
	MeanLength      json.Number `json:"mean_length"`
	Bottlenecks     []FoundRow  `json:"bottlenecks"`
}

// A FoundRow is one bottleneck of a FoundReport.
type FoundRow struct {
	Number            int            `json:"number"` // from 1
	Path              []string       `json:"path"`
	OwnPercent        json.Number    `json:"own_percent"`
	AdditionalPercent json.Number    `json:"additional_percent"`
	CoveragePercent   json.Number    `json:"coverage_percent"`
	IntervalPercent   *[2]roundedTwo `json:"interval_percent,omitempty"`
	Command           string         `json:"command"`
}

// roundedTwo is a percentage that is not exact to begin with.
type roundedTwo float64

// MarshalJSON writes two decimals.
func (r roundedTwo) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%.2f", float64(r)), nil }

// Report prepares the bottlenecks for output. open is the command line that starts a Shell on the same profile, such as
// "cpprof bottlenecks run.cpprof"; each row's command opens its bottleneck with it.
func (f *Found) Report(open string) FoundReport {
	r := FoundReport{f.Comparison, inPercent(f.Coverage), json.Number(f.MeanLength.FloatString(1)), []FoundRow{}}
	for i, b := range f.Bottlenecks {
		row := FoundRow{
			Number:            i + 1,
			Path:              b.Summary.Path(),
			OwnPercent:        inPercent(b.Own),
			AdditionalPercent: inPercent(b.Additional),
			CoveragePercent:   inPercent(b.Coverage),
			Command:           echo("select "+quotePath(b.Summary.Path())) + " | " + open,
		}
		if v := b.Interval; v != nil {
			row.IntervalPercent = &[2]roundedTwo{roundedTwo(100 * v.Low), roundedTwo(100 * v.High)}
		}
		r.Bottlenecks = append(r.Bottlenecks, row)
	}
	return r
}

func inPercent(share *big.Rat) json.Number {
	return json.Number(strings.TrimSuffix(percent(share), "%"))
}

// echo is the command of a POSIX shell that writes a line. Some echos interpret backslashes.
func echo(line string) string {
	quoted := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	if strings.Contains(line, `\`) {
		return `printf '%s\n' ` + quoted
	}
	return "echo " + quoted
}

// WriteText writes the report as the paper's tables 2 and 6 summarize a search, and below that a block for each
// bottleneck.
func (r FoundReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%11s %9s %11s\n", "Bottlenecks", "Coverage", "Mean length")
	fmt.Fprintf(&b, "%11d %9s %11s\n", len(r.Bottlenecks), r.CoveragePercent+"%", r.MeanLength)
	if len(r.Bottlenecks) > 0 {
		fmt.Fprintf(&b, "\n%4s %9s %9s %9s  %s\n", "", "Own", "Adds", "Coverage", "95 % interval of Own")
	}
	for _, row := range r.Bottlenecks {
		interval := "-"
		if v := row.IntervalPercent; v != nil {
			interval = fmt.Sprintf("%.2f%% to %.2f%%", float64(v[0]), float64(v[1]))
		}
		fmt.Fprintf(&b, "%4d %9s %9s %9s  %s\n", row.Number, row.OwnPercent+"%", row.AdditionalPercent+"%",
			row.CoveragePercent+"%", interval)
		for _, name := range row.Path {
			fmt.Fprintf(&b, "       %s\n", quote(name))
		}
		fmt.Fprintf(&b, "     open with: %s\n", row.Command)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
