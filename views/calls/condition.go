package calls

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Condition says which calls count. The zero Condition has all of them.
type Condition struct {
	text     string // "> p99"
	below    bool   // shorter than the bound, not longer
	equal    bool   // the bound itself counts
	time     time.Duration
	quantile float64 // the bound in place of a time, if it is not 0
}

func (c Condition) String() string { return c.text }

// Slowest is the condition of the calls that are slow if nobody says which.
var Slowest = Condition{text: "> p99", quantile: 0.99}

// Parse reads a function, and optionally a condition: "main.handle",
// "main.handle > p99", "main.handle <= 200ms".
func Parse(text string) (function string, c Condition, err error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return strings.TrimSpace(text), c, nil
	}
	if function = strings.TrimSpace(text[:at]); function == "" {
		return "", c, fmt.Errorf("%q: want a function before the condition, such as 'main.handle > p99'", text)
	}
	c, err = ParseCondition(text[at:])
	return function, c, err
}

// ParseCondition reads a comparison with a time or a quantile: "> 200ms",
// ">= p95", "< p90".
func ParseCondition(text string) (c Condition, err error) {
	rest := strings.TrimSpace(text)
	wrong := fmt.Errorf("%q: want a comparison with a time or a quantile, such as '> 200ms' or '> p95'", text)
	if rest == "" || rest[0] != '<' && rest[0] != '>' {
		return c, wrong
	}
	c.below, rest = rest[0] == '<', rest[1:]
	rest, c.equal = strings.CutPrefix(rest, "=")
	rest = strings.TrimSpace(rest)
	if digits, ok := strings.CutPrefix(rest, "p"); ok {
		p, err := strconv.ParseFloat(digits, 64)
		if err != nil || math.IsNaN(p) || p <= 0 || p > 100 {
			return Condition{}, fmt.Errorf("%q: want a quantile from p1 to p100, such as p99 or p99.9", text)
		}
		c.quantile = p / 100
	} else if c.time, err = time.ParseDuration(rest); err != nil || c.time < 0 {
		return Condition{}, wrong
	}
	c.text = strings.TrimSpace(text)
	return c, nil
}

// Bound returns the time that calls are compared with.
func (c Condition) Bound(t *Table) time.Duration {
	if c.quantile != 0 {
		length, _ := t.Quantile(c.quantile)
		return length
	}
	return c.time
}

// choose returns the calls for which a condition holds, and the other ones. How
// long a call took that the recording does not have from begin to end is not
// known: it is in neither, unless there is no condition.
func (t *Table) choose(c Condition) (chosen, rest []*Call) {
	bound := c.Bound(t)
	for i := range t.Calls {
		call := &t.Calls[i]
		switch length := call.Length(); {
		case c.text == "":
			chosen = append(chosen, call)
		case !call.Whole():
		case c.below && length < bound, !c.below && length > bound, c.equal && length == bound:
			chosen = append(chosen, call)
		default:
			rest = append(rest, call)
		}
	}
	return chosen, rest
}

// Restrict returns the recording with only the time inside calls for which a
// condition holds.
func (t *Table) Restrict(c Condition) (*sampledata.Recording, error) {
	chosen, _ := t.choose(c)
	if len(chosen) == 0 {
		return nil, t.none(c)
	}
	if !slices.ContainsFunc(chosen, (*Call).Sampled) {
		return nil, fmt.Errorf("no sample is inside of a call of %s %s: 'cpprof record --rate' takes more samples",
			t.Function, c)
	}
	return t.only(strings.TrimSpace(t.Function+" "+c.text), chosen), nil
}

// none says that no call is like that.
func (t *Table) none(c Condition) error {
	switch {
	case len(t.Calls) == 0:
		return fmt.Errorf("the recording has no call of %s", t.Function)
	case len(t.lengths) == 0:
		return fmt.Errorf("the recording has no call of %s from begin to end", t.Function)
	}
	longest, _ := t.Longest()
	return fmt.Errorf("none of the %d calls of %s is %s: the longest took %v", len(t.lengths), t.Function, c,
		longest.Round(time.Microsecond))
}

func (t *Table) only(list string, calls []*Call) *sampledata.Recording {
	var stretches []sampledata.Stretch
	for _, c := range calls {
		if !c.Sampled() {
			continue
		}
		stretches = append(stretches, sampledata.Stretch{Goroutine: c.Goroutine, First: c.First, Last: c.Last})
	}
	return t.recording.Restrict(list, stretches)
}
