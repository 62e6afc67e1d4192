package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
)

// Monitors is what there is in a recording beside the stacks,
// with statistics over the samples of a list.
type Monitors struct {
	Path  string
	Table *metrics.Table
	List  metrics.List
	Of    string // the list's name; "" for all samples
}

// A monitorRow is one monitor or metric. What is undefined is null.
type monitorRow struct {
	sampledata.Monitor
	Kind string `json:"kind"`
	Expr string `json:"expr"` // what the statistics are of: the rate of a counter
	metrics.Stats
	Restarts int      `json:"restarts"` // how often a counter began anew
	Words    []string `json:"words,omitempty"`
}

func (m *Monitors) rows() []monitorRow { return lists.Each(m.Table.Monitors(), m.row) }

func (m *Monitors) row(of *metrics.Monitor) monitorRow {
	row := monitorRow{
		Monitor: of.Monitor, Kind: of.Kind.String(), Expr: of.Name, Stats: metrics.NoStats(0),
	}
	switch {
	case of.Expr != "":
		row.Kind, row.Source = "metric", of.Expr
	case of.Kind == sampledata.Counter:
		row.Expr = "rate(" + of.Name + ")"
	}
	metric, err := m.Table.Metric(row.Expr)
	if err != nil {
		row.Unmeasured, _, _ = strings.Cut(err.Error(), "\n")
		return row
	}
	row.Unit, row.Restarts, row.Words = metric.Unit.String(), metric.Restarts, metric.Words
	row.Stats = metric.Stats(m.List)
	if row.Words != nil || row.N == 0 {
		row.Stats = metrics.NoStats(row.N)
	}
	if row.Unmeasured == "" && row.N == 0 {
		row.Unmeasured = "in none of these samples"
	}
	return row
}

// Write writes a table of the monitors that were measured, and
// lists the others with the reasons.
func (m *Monitors) Write(w io.Writer) {
	Headline(w, m.Path, m.Table.Recording())
	rows := m.rows()
	t := table{}
	t.add("monitor", "n", "min", "median", "mean", "max", "deviation", "layer")
	var missing []monitorRow
	for _, r := range rows {
		switch {
		case r.Unmeasured != "":
			missing = append(missing, r)
		case r.Words != nil:
			t.add(termtext.Printable(r.Expr), strconv.Itoa(r.N), "", "", "", "", "",
				r.Layer.String()+": "+termtext.Printable(strings.Join(r.Words, ", ")))
		default:
			t.add(termtext.Printable(r.Expr), strconv.Itoa(r.N), InUnit(r.Min, r.Unit),
				InUnit(r.Median, r.Unit), InUnit(r.Mean, r.Unit),
				InUnit(r.Max, r.Unit), InUnit(r.Deviance, r.Unit), m.remark(r))
		}
	}
	if m.Of != "" {
		termtext.Fprintf(w, "Over %d of %s: %s\n\n", m.List.Len(),
			Counted(m.Table.Samples(), "sample"), m.Of)
	}
	t.write(w)
	m.writeMissing(w, missing)
	m.writeLists(w)
}

// remark returns the layer of a monitor, and what else is to say.
func (m *Monitors) remark(r monitorRow) string {
	text := r.Layer.String()
	if r.Kind == "metric" {
		text = "= " + termtext.Printable(r.Source)
	}
	if metrics.Defined(r.Ratio) {
		text += "; on the whole " + InUnit(r.Ratio, r.Unit)
	}
	if r.Restarts > 0 {
		text += "; began anew " + Counted(r.Restarts, "time")
	}
	return text
}

// InUnit formats a number with a few digits and its unit, such
// as "1.5 MiB/s"; "-" if it is undefined.
func InUnit(x float64, unit string) string {
	if !metrics.Defined(x) {
		return "-"
	}
	over, under, per := strings.Cut(unit, "/")
	if over == "1" {
		over = ""
	}
	text := Quantity(x, over)
	if per {
		text += "/" + termtext.Printable(under)
	}
	return text
}

func (m *Monitors) writeMissing(w io.Writer, rows []monitorRow) {
	if len(rows) == 0 {
		return
	}
	termtext.Fprintf(w, "\nNot measured:\n")
	t := table{}
	for _, r := range rows {
		t.add("  "+termtext.Printable(r.Name), r.Layer.String(), termtext.Printable(r.Unmeasured))
	}
	t.write(w)
}

func (m *Monitors) writeLists(w io.Writer) {
	lists := m.lists()
	if len(lists) == 0 {
		return
	}
	termtext.Fprintf(w, "\nSample lists:\n")
	t := table{}
	for _, l := range lists {
		what, text := Counted(l.Samples, "sample"), l.Expr
		if l.Error != "" {
			what, text = "error", text+": "+l.Error
		}
		t.add("  "+termtext.Printable(l.Name), what, "= "+termtext.Printable(text))
	}
	t.write(w)
}

// A listRow is a sample list. Error says why it can't be computed.
type listRow struct {
	Name    string `json:"name"`
	Expr    string `json:"expr"`
	Samples int    `json:"samples"`
	Error   string `json:"error,omitempty"`
}

func (m *Monitors) lists() []listRow {
	list := []listRow{}
	for _, d := range m.Table.Lists() {
		row := listRow{Name: d.Name, Expr: d.Expr}
		if l, err := m.Table.List(d.Name); err == nil {
			row.Samples = l.Len()
		} else {
			row.Error, _, _ = strings.Cut(err.Error(), "\n")
		}
		list = append(list, row)
	}
	return list
}

// WriteJSON writes everything as JSON.
func (m *Monitors) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Samples  int          `json:"samples"`
		Of       int          `json:"of"`
		List     string       `json:"list"`
		Monitors []monitorRow `json:"monitors"`
		Lists    []listRow    `json:"lists"`
		Basis
	}{m.List.Len(), m.Table.Samples(), m.Of, m.rows(), m.lists(), BasisOf(m.Table.Recording())})
}

// WriteCSV writes a line for each monitor. What is undefined is empty.
func (m *Monitors) WriteCSV(w io.Writer) error {
	c := NewCSV(w)
	c.Row("name", "layer", "kind", "expr", "unit", "samples", "min", "median", "mean", "max",
		"standard deviation", "sum", "ratio of sums", "restarts", "resolution", "source", "unmeasured")
	for _, r := range m.rows() {
		c.Row(r.Name, r.Layer.String(), r.Kind, r.Expr, r.Unit, r.N, r.Min, r.Median, r.Mean, r.Max,
			r.Deviance, r.Sum, r.Ratio, r.Restarts, r.Resolution, r.Source, r.Unmeasured)
	}
	return c.End()
}
