package calls

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Condition says which calls count: by how long they took, and
// when they began. The zero Condition has all of them.
type Condition struct {
	text        string // "> p99", "> 5ms < 80ms @ 1.2s,3.4s"
	comparisons []comparison
	begins      bool // only calls that begin in [from, to)
	from, to    time.Duration
}

// A comparison is one of a call's length.
type comparison struct {
	below    bool // shorter than the bound, not longer
	equal    bool // the bound itself counts
	time     time.Duration
	quantile float64 // the bound in place of a time, if it is not 0
}

func (c Condition) String() string { return c.text }

// Slowest is the condition of the calls that are slow if nobody
// says which.
var Slowest = Condition{text: "> p99", comparisons: []comparison{{quantile: 0.99}}}

// Parse reads a function, and optionally a condition:
// "main.handle", "main.handle > p99", "main.handle > 5ms < 80ms
// @ 1.2s,3.4s". Names of tasks may have all letters, so the
// condition is the longest end that is one.
func Parse(text string) (function string, c Condition, err error) {
	var first error // about the longest end
	for at, letter := range text {
		if !strings.ContainsRune("<>@", letter) {
			continue
		}
		c, err := ParseCondition(text[at:])
		if err == nil {
			if function = strings.TrimSpace(text[:at]); function == "" {
				err = fmt.Errorf("%q: want a function before the condition, such as 'main.handle > p99'", text)
			}
			return function, c, err
		}
		if first == nil {
			first = err
		}
	}
	return strings.TrimSpace(text), c, first
}

// Quantiles are those that are shown of the lengths of calls.
var Quantiles = []struct {
	Name  string
	Share float64
}{{"p50", 0.50}, {"p90", 0.90}, {"p99", 0.99}, {"longest", 1}}

// ParseCondition reads comparisons with a time or a quantile,
// and when calls begin: "> 200ms", ">= p95", "> 5ms < 80ms", ">
// p90 @ 1.2s,3.4s".
func ParseCondition(text string) (Condition, error) {
	c := Condition{text: strings.TrimSpace(text)}
	const begin = "<>@"
	if c.text == "" || !strings.Contains(begin, c.text[:1]) {
		return Condition{}, wrongCondition(text)
	}
	for rest := c.text; rest != ""; {
		end := len(rest)
		if next := strings.IndexAny(rest[1:], begin); next >= 0 {
			end = next + 1
		}
		if err := c.add(rest[:end]); err != nil {
			return Condition{}, err
		}
		rest = rest[end:]
	}
	return c, nil
}

// add adds a comparison, or when calls begin.
func (c *Condition) add(part string) error {
	if part[0] != '@' {
		one, err := parseComparison(part)
		c.comparisons = append(c.comparisons, one)
		return err
	}
	wrong := fmt.Errorf("%q: want two offsets from the start after one @, the first before the second, such as '@ 1.2s,3.4s'", part)
	span, err := views.ParseSpan(part[1:])
	if err != nil || c.begins {
		return wrong
	}
	c.begins, c.from, c.to = true, span.From, cmp.Or(span.To, math.MaxInt64)
	return nil
}

// Restricted returns a recording with only the time inside calls
// that a text names, such as "main.handle > p99". With started,
// the goroutines that these calls started belong to them.
func Restricted(r *sampledata.Recording, text string,
	started bool) (*sampledata.Recording, error) {
	function, condition, err := Parse(text)
	if err != nil {
		return nil, err
	}
	table, err := Of(r, function)
	if err != nil {
		return nil, err
	}
	return table.Restrict(condition, started)
}

func wrongCondition(text string) error {
	return fmt.Errorf("%q: want a comparison with a time or a quantile, such as '> 200ms' or '> p95'", text)
}

// parseComparison reads "> 200ms" or "<= p90".
func parseComparison(text string) (c comparison, err error) {
	rest := ""
	c.below, rest = text[0] == '<', text[1:]
	rest, c.equal = strings.CutPrefix(rest, "=")
	rest = strings.TrimSpace(rest)
	if digits, ok := strings.CutPrefix(rest, "p"); ok {
		p, err := strconv.ParseFloat(digits, 64)
		if err != nil || math.IsNaN(p) || p <= 0 || p > 100 {
			return c, fmt.Errorf("%q: want a quantile from p1 to p100, such as p99 or p99.9", text)
		}
		c.quantile = p / 100
	} else if c.time, err = time.ParseDuration(rest); err != nil || c.time < 0 {
		return c, wrongCondition(text)
	}
	return c, nil
}

// bound returns the time that calls are compared with.
func (c comparison) bound(t *Table) time.Duration {
	if c.quantile != 0 {
		length, _ := t.Quantile(c.quantile)
		return length
	}
	return c.time
}

// Quantiles returns between which times the condition's quantiles are.
func (c Condition) Quantiles(t *Table) (list []Range) {
	for _, one := range c.comparisons {
		if one.quantile != 0 {
			list = append(list, t.Between(one.quantile))
		}
	}
	return list
}

// In returns the text of a condition that chooses the same calls
// of the whole recording. If the table has a span, the text
// names it, and gives times for the quantiles.
func (c Condition) In(t *Table) string {
	if t.Span == (views.Span{}) {
		return c.text
	}
	text := ""
	for _, one := range c.comparisons {
		sign := map[bool]string{true: "<", false: ">"}[one.below]
		if one.equal {
			sign += "="
		}
		text += fmt.Sprintf("%s %v ", sign, one.bound(t))
	}
	from, to := t.Span.From, cmp.Or(t.Span.To, math.MaxInt64)
	if c.begins {
		from, to = max(from, c.from), min(to, c.to)
	}
	text += fmt.Sprintf("@ %v,", from)
	if to != math.MaxInt64 {
		text += to.String()
	}
	return text
}

// choose returns the calls for which a condition holds, and the
// other ones. How long a call took that the recording does not
// have from begin to end is not known: it is in neither, unless
// there is no condition.
func (t *Table) choose(c Condition) (chosen, rest []*Call) {
	bounds := lists.Each(c.comparisons, func(one comparison) time.Duration { return one.bound(t) })
	for i := range t.Calls {
		call := &t.Calls[i]
		switch {
		case c.text == "":
			chosen = append(chosen, call)
		case !call.Whole():
		case c.holds(call, bounds):
			chosen = append(chosen, call)
		default:
			rest = append(rest, call)
		}
	}
	return chosen, rest
}

// Numbers returns the numbers of the longest calls for which a
// condition holds, as many as most. The longest call of all has
// number 1.
func (t *Table) Numbers(c Condition, most int) (list []int) {
	chosen, _ := t.choose(c)
	i := 0
	for _, call := range chosen[:min(len(chosen), most)] { // in the order of the calls
		for &t.Calls[i] != call {
			i++
		}
		list = append(list, i+1)
	}
	return list
}

// holds reports whether a condition holds for a call, given its bounds.
func (c Condition) holds(call *Call, bounds []time.Duration) bool {
	length := call.Length()
	for i, one := range c.comparisons {
		if !(one.below && length < bounds[i] || !one.below && length > bounds[i] ||
			one.equal && length == bounds[i]) {
			return false
		}
	}
	return !c.begins || c.from <= call.Begin && call.Begin < c.to
}

// Restrict returns the recording with only the time inside calls
// for which a condition holds. With created, goroutines that were
// started in a call, directly or not, count, too, while it lasts.
func (t *Table) Restrict(c Condition, created bool) (*sampledata.Recording, error) {
	chosen, _ := t.choose(c)
	if len(chosen) == 0 {
		return nil, t.none(c)
	}
	if !slices.ContainsFunc(chosen, (*Call).Sampled) {
		return nil, fmt.Errorf("no sample is inside of a call of %s %s: 'cpprof record --rate' takes more samples",
			t.Function, c)
	}
	list, stretches := strings.TrimSpace(t.Function+" "+c.text), stretchesOf(chosen)
	if created {
		only := t.recording.Restrict(list, views.WithStarted(t.recording, stretches, t.onStack))
		only.Restricted.Stretches = len(stretches)
		return only, nil
	}
	return t.recording.Restrict(list, stretches), nil
}

// none says that no call is like that.
func (t *Table) none(c Condition) error {
	switch {
	case len(t.Calls) == 0:
		return fmt.Errorf("the recording has no call of %s", t.Function)
	case len(t.whole) == 0:
		return fmt.Errorf("the recording has no call of %s from begin to end", t.Function)
	}
	longest, _ := t.Longest()
	return fmt.Errorf("none of the %d calls of %s is %s: the longest took %v", len(t.whole), t.Function, c,
		longest.Round(time.Microsecond))
}

// onStack reports whether a stack has the function.
func (t *Table) onStack(stack sampledata.NodeID) bool {
	return t.outermost[stack] != sampledata.NoStack
}

// stretchesOf returns the samples in calls.
func stretchesOf(calls []*Call) (stretches []sampledata.Stretch) {
	for _, c := range calls {
		if c.Sampled() {
			stretches = append(stretches,
				sampledata.Stretch{Goroutine: c.Goroutine, First: c.First, Last: c.Last})
		}
	}
	return stretches
}
