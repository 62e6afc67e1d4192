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
	Number int `json:"number"`
	*calls.Call
	Length      time.Duration `json:"length_ns"` // as estimated
	calls.Range               // what it took; of one that is cut, it is at least what was seen
	Several     bool          `json:"several,omitempty"` // also for what the other calls show
	Caller      string        `json:"caller,omitempty"`
	Steps       []calls.Step  `json:"steps,omitempty"`
}

// callsJSON is the output of Calls.WriteJSON.
type callsJSON struct {
	*calls.Table
	Number    int                      `json:"number"`
	Whole     int                      `json:"whole"`
	Short     int                      `json:"short"`
	Quantiles map[string]time.Duration `json:"quantiles_ns"` // halfway between these times
	Between   map[string]calls.Range   `json:"quantiles_between"`
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
	calls.Common
	Text string `json:"text"`
}

// WriteJSON writes what Write does as data, and all calls.
func (c *Calls) WriteJSON(w io.Writer) error {
	out := callsJSON{Table: c.Table, Number: len(c.Calls), Whole: c.Whole(), Short: c.Short(),
		Quantiles: map[string]time.Duration{}, Between: map[string]calls.Range{},
		Condition: c.Condition.String(), TooFew: c.TooFew(),
		Slow: c.sideJSON(&c.Slow), Rest: c.sideJSON(&c.Rest), Basis: BasisOf(c.Recording)}
	for _, q := range calls.Quantiles {
		if !c.TellsTimes() {
			break
		}
		between := c.Between(q.Share)
		out.Between[q.Name] = between
		if between.Least > 0 {
			out.Quantiles[q.Name] = (between.Least + between.Most) / 2
		}
	}
	out.More = lists.Each(c.More, func(m calls.Common) moreJSON {
		return moreJSON{m, FeatureText(&m)}
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
	took := c.Within(call)
	if !call.Whole() {
		took.Most = 0
	}
	return callJSON{Number: i + 1, Call: call, Length: call.Length(), Range: took,
		Several: c.MayBeSeveral(call), Caller: call.Site.Function}
}

// WriteCallJSON writes what WriteCall does as data.
func (c *Calls) WriteCallJSON(w io.Writer, number int, steps []calls.Step) error {
	out := struct {
		Function string `json:"function"`
		callJSON
		Basis
	}{c.Function, c.callJSON(number - 1), BasisOf(c.Recording)}
	out.Steps = steps
	return writeJSON(w, out)
}
