package page

import (
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// The limits of a heat map, of the calls that are listed, and of
// the steps of one.
const (
	maxColumns = 2000
	maxRows    = 200
	maxListed  = 20
	maxSteps   = 1000
)

// quantile is a length that a share of the calls do not exceed.
type quantile struct {
	Name  string        `json:"name"`
	Least time.Duration `json:"least_ns"`
	Most  time.Duration `json:"most_ns"`
	Text  string        `json:"text"`
}

// callsRow is a function whose calls are shown.
type callsRow struct {
	Function  string     `json:"function"`
	Class     string     `json:"class,omitempty"`
	Calls     int        `json:"calls"`
	Share     float64    `json:"share,omitempty"` // of the class's work
	Source    string     `json:"source"`          // of the calls: samples, uprobes, trace
	Quantiles []quantile `json:"quantiles"`
}

func callsRowOf(t *calls.Table) callsRow {
	row := callsRow{Function: t.Function, Calls: len(t.Calls), Source: string(t.Source), Quantiles: []quantile{}}
	for _, q := range calls.Quantiles {
		if !t.TellsTimes() {
			break
		}
		between := t.Between(q.Share)
		row.Quantiles = append(row.Quantiles,
			quantile{q.Name, between.Least, between.Most, report.RangeText(between)})
	}
	return row
}

// proposals returns functions whose calls are worth a look, as
// 'cpprof calls' does.
func (s *shown) proposals(*question) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proposed != nil {
		return s.proposed, nil
	}
	list := []callsRow{}
	if s.page.HasTimes() {
		found, err := calls.Propose(s.page.whole(), s.options())
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			row := callsRowOf(p.Table)
			row.Class, row.Share = p.Class, p.Share
			list = append(list, row)
		}
	}
	s.proposed = list
	return list, nil
}

// options returns the options of the page for all of the recording.
func (s *shown) options() views.Options {
	o := s.page.Options
	o.Span = views.Span{}
	return o
}

// latencyMap is the heat map of a function's calls.
type latencyMap struct {
	callsRow
	*calls.HeatMap
	Note string `json:"note"`
}

// latency returns the heat map of a function's calls. It marks
// the calls that a condition selects.
func (s *shown) latency(q *question) (any, error) {
	t, err := s.callsOf(q.Get("function"))
	var c calls.Condition
	if err == nil && q.Get("calls") != "" {
		t, c, err = s.tableOf(q.Get("calls"))
	}
	if err != nil {
		return nil, err
	}
	return latencyMap{callsRowOf(t), heatMap(t, c, q), t.Note}, nil
}

// heatMap returns the heat map that a request is about.
func heatMap(t *calls.Table, c calls.Condition, q *question) *calls.HeatMap {
	return t.HeatMap(q.number("columns", 1, maxColumns), q.number("rows", 1, maxRows), c, q.span())
}

// area returns the condition of an area in a heat map.
func (s *shown) area(q *question) (any, error) {
	t, err := s.callsOf(q.Get("function"))
	if err != nil {
		return nil, err
	}
	h := heatMap(t, calls.Condition{}, q)
	column, row := h.Columns-1, len(h.Edges)-2
	a := calls.Area{Left: q.number("left", 0, column), Right: q.number("right", 0, column),
		Bottom: q.number("bottom", 0, row), Top: q.number("top", 0, row)}
	return map[string]string{"calls": t.Function + " " + h.Condition(a)}, nil
}

// contrastRow is what slow calls have more of.
type contrastRow struct {
	Text       string            `json:"text"`
	Slow       hotspots.Estimate `json:"slow"`
	Rest       hotspots.Estimate `json:"rest"`
	Difference hotspots.Estimate `json:"difference"`
}

func contrastRowOf(m calls.Common) contrastRow {
	return contrastRow{report.FeatureText(&m), m.Slow, m.Rest, m.Difference}
}

// callRow is a call, with its number among all calls of the function.
type callRow struct {
	Number    int           `json:"number"`
	Goroutine int64         `json:"goroutine"`
	Begin     time.Duration `json:"begin_ns"`
	Length    time.Duration `json:"length_ns"`
	Took      string        `json:"took"`
	Sampled   bool          `json:"sampled"`
}

// contrast holds the calls of a condition against the rest.
func (s *shown) contrast(q *question) (any, error) {
	t, c, err := s.tableOf(q.Get("calls"))
	if err != nil {
		return nil, err
	}
	contrast, err := t.Contrast(c, s.options())
	if err != nil {
		return nil, err
	}
	out := struct {
		Function string        `json:"function"`
		Slow     int           `json:"slow"`
		Rest     int           `json:"rest"`
		TooFew   bool          `json:"too_few"`
		Least    int           `json:"least"` // number of calls that is enough
		Parts    [2][]float64  `json:"parts"` // shares of the typed times: of slow calls, and of the rest
		More     []contrastRow `json:"more"`
		Longest  []callRow     `json:"longest"`
	}{t.Function, contrast.Slow.Calls, contrast.Rest.Calls, contrast.TooFew(), calls.LeastSlow,
		[2][]float64{}, lists.Each(contrast.More, contrastRowOf),
		lists.Each(t.Numbers(c, maxListed), func(n int) callRow { return callRowOf(t, n) })}
	for typed := range views.NumTypedTimes {
		out.Parts[0] = append(out.Parts[0], contrast.Slow.Parts[typed].Share)
		out.Parts[1] = append(out.Parts[1], contrast.Rest.Parts[typed].Share)
	}
	return out, nil
}

func callRowOf(t *calls.Table, number int) callRow {
	call := &t.Calls[number-1]
	return callRow{number, call.ID, call.Begin, call.Length(), report.Took(t, call), call.Sampled()}
}

// stepRow is what a goroutine did for some time of a call.
type stepRow struct {
	At     time.Duration `json:"at_ns"` // since the call's begin
	Length time.Duration `json:"length_ns"`
	Typed  int           `json:"typed"` // what a page draws it as
	Text   string        `json:"text"`
}

// call returns what the goroutine of one call did, given the
// call's number.
func (s *shown) call(q *question) (any, error) {
	t, err := s.callsOf(q.Get("function"))
	if err != nil {
		return nil, err
	}
	n := q.number("number", 1, len(t.Calls))
	if q.err != nil { // there may be no call at all
		return nil, q.err
	}
	out := struct {
		callRow
		Steps []stepRow `json:"steps"`
	}{callRowOf(t, n), []stepRow{}}
	for _, step := range t.Steps(&t.Calls[n-1], s.options()) {
		if len(out.Steps) == maxSteps {
			break
		}
		out.Steps = append(out.Steps, stepRow{max(0, step.At-out.Begin), step.Length,
			int(step.Doing.Time()), report.StepText(&step)})
	}
	return out, nil
}
