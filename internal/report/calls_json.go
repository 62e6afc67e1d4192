package report

import (
	"io"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// callJSON is a call as data.
type callJSON struct {
	Number    int           `json:"number"`
	Goroutine int64         `json:"goroutine"`
	Begin     time.Duration `json:"begin_ns"`
	Length    time.Duration `json:"length_ns"` // as estimated
	rangeJSON               // what it took; of one that is cut, it is at least what was seen
	CutBegin  bool          `json:"cut_begin,omitempty"`
	CutEnd    bool          `json:"cut_end,omitempty"`
	Short     bool          `json:"short,omitempty"`
	Several   bool          `json:"several,omitempty"`
	Caller    string        `json:"caller,omitempty"`
	Label     string        `json:"label,omitempty"`
	Values    []int64       `json:"values,omitempty"`
	Steps     []stepJSON    `json:"steps,omitempty"`
}

// rangeJSON is a time that is known to be between two.
type rangeJSON struct {
	Least time.Duration `json:"least_ns"`
	Most  time.Duration `json:"most_ns,omitempty"` // 0: not known
}

// callsJSON is the output of Calls.WriteJSON.
type callsJSON struct {
	Function  string                   `json:"function"`
	Source    string                   `json:"source"`
	Note      string                   `json:"note,omitempty"`
	Covered   time.Duration            `json:"covered_ns"`
	Windows   int                      `json:"windows"`
	Arguments []string                 `json:"arguments,omitempty"`
	Interval  time.Duration            `json:"interval_ns"`
	Duration  time.Duration            `json:"duration_ns"`
	Number    int                      `json:"number"`
	Whole     int                      `json:"whole"`
	Short     int                      `json:"short"`
	Touching  float64                  `json:"touching"`
	Several   float64                  `json:"several_share"`
	Chance    float64                  `json:"chance"`
	Quantiles map[string]time.Duration `json:"quantiles_ns"` // halfway between these times
	Between   map[string]rangeJSON     `json:"quantiles_between"`
	Condition string                   `json:"condition"`
	Slow      sideJSON                 `json:"slow"`
	Rest      sideJSON                 `json:"rest"`
	TooFew    bool                     `json:"too_few"`
	More      []moreJSON               `json:"more"`
	Calls     []callJSON               `json:"calls"`
	Basis
}

type sideJSON struct {
	Calls    int                          `json:"calls"`
	Shortest time.Duration                `json:"shortest_ns"`
	Longest  time.Duration                `json:"longest_ns"`
	Parts    map[string]hotspots.Estimate `json:"parts"`
}

type moreJSON struct {
	calls.Feature
	Text       string            `json:"text"`
	Slow       hotspots.Estimate `json:"slow"`
	Rest       hotspots.Estimate `json:"rest"`
	Difference hotspots.Estimate `json:"difference"`
}

// WriteJSON writes what Write does as data, and all calls.
func (c *Calls) WriteJSON(w io.Writer) error {
	out := callsJSON{Function: c.Function, Source: string(c.Source), Note: c.Note, Covered: c.Covered, Windows: c.Windows, Arguments: c.Arguments, Interval: c.Interval, Duration: c.Duration,
		Number: len(c.Calls), Whole: c.Whole(), Short: c.Short(), Touching: c.Touching, Chance: c.Chance, Several: c.Several,
		Quantiles: map[string]time.Duration{}, Between: map[string]rangeJSON{}, Condition: c.Condition.String(), TooFew: c.TooFew(),
		Slow: c.sideJSON(&c.Slow), Rest: c.sideJSON(&c.Rest),
		Basis: BasisOf(c.Recording)}
	for _, q := range calls.Quantiles {
		if !c.TellsTimes() {
			break
		}
		between := c.Between(q.Share)
		out.Between[q.Name] = rangeJSON(between)
		if between.Least > 0 {
			out.Quantiles[q.Name] = (between.Least + between.Most) / 2
		}
	}
	out.More = lists.Each(c.More, func(m calls.Common) moreJSON {
		return moreJSON{m.Feature, FeatureText(&m), m.Slow, m.Rest, m.Difference}
	})
	for i := range c.Calls {
		out.Calls = append(out.Calls, c.callJSON(i))
	}
	return writeJSON(w, out)
}

func (c *Calls) sideJSON(s *calls.Side) sideJSON {
	out := sideJSON{s.Calls, s.Shortest, s.Longest, map[string]hotspots.Estimate{}}
	if !c.TooFew() {
		for typed := range views.NumTypedTimes {
			out.Parts[typed.Name()] = s.Parts[typed]
		}
	}
	return out
}

func (c *Calls) callJSON(i int) callJSON {
	call := &c.Calls[i]
	took := rangeJSON(c.Within(call))
	if !call.Whole() {
		took.Most = 0
	}
	return callJSON{Number: i + 1, Goroutine: call.ID, Begin: call.Begin, Length: call.Length(),
		rangeJSON: took, CutBegin: call.CutBegin, CutEnd: call.CutEnd, Short: call.Short, Several: c.MayBeSeveral(call), Caller: call.Site.Function,
		Label: call.Label, Values: call.Values}
}

// stepJSON is a part of one call.
type stepJSON struct {
	At       time.Duration `json:"at_ns"`
	Length   time.Duration `json:"length_ns"`
	Does     string        `json:"does"`
	Function string        `json:"function,omitempty"`
	Line     int32         `json:"line,omitempty"`
	Lock     string        `json:"lock,omitempty"`
	Holders  []holderStep  `json:"holders,omitempty"`
	Certain  bool          `json:"certain,omitempty"`
}

type holderStep struct {
	Goroutine int64  `json:"goroutine"`
	Class     string `json:"class,omitempty"`
	Does      string `json:"does,omitempty"`
	Function  string `json:"function,omitempty"`
}

// WriteCallJSON writes what WriteCall does as data.
func (c *Calls) WriteCallJSON(w io.Writer, number int, steps []calls.Step) error {
	out := struct {
		Function string `json:"function"`
		callJSON
		Basis
	}{c.Function, c.callJSON(number - 1), BasisOf(c.Recording)}
	out.Steps = lists.Each(steps, func(s calls.Step) stepJSON {
		holders := lists.Each(s.Holders, func(h calls.Holder) holderStep {
			return holderStep{h.ID, h.Class, h.Doing.Words(), h.Function}
		})
		return stepJSON{At: s.At, Length: s.Length, Does: s.Doing.Words(), Function: s.Function,
			Line: s.Line, Lock: s.Lock, Certain: s.Certain, Holders: holders}
	})
	return writeJSON(w, out)
}
