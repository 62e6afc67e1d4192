package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calls"
)

// Calls that samples can't tell apart are marked where they are
// listed, and each took less than they seem to.
func TestMergedCallsAreMarked(t *testing.T) {
	for touching, want := range map[float64]bool{0.29: false, 0.3: true} {
		p := &ProposedCalls{File: "a.cpprof", Proposals: []calls.Proposal{{
			Table: tableOf(t, touching), Class: "go:main.f", Share: 1}}}
		b := new(strings.Builder)
		p.Write(b)
		mark, note := strings.Contains(b.String(), "*5 "), strings.Contains(b.String(), "\n* Some of these calls")
		if below := strings.Contains(b.String(), "below 40ms"); mark != want || note != want || below != want {
			t.Errorf("touching %v: %s", touching, b)
		}
	}
}

// tableOf returns a table of five calls, of three samples each.
func tableOf(t *testing.T, touching float64) *calls.Table {
	t.Helper()
	var samples strings.Builder
	for i := range 25 {
		node := "n1"
		if i%5 == 0 || i%5 == 4 {
			node = "n0"
		}
		fmt.Fprintf(&samples, "sample %dms\n    g0 running %s\n", 10*(i+1), node)
	}
	r, err := sampledata.ReadText(strings.NewReader(`cpprof recording 1
start 2026-01-02T03:04:05Z
function f0 main.loop
function f1 main.f
node n0 f0 line=1
node n1 f1 under=n0 line=2
goroutine g0 7
` + samples.String()))
	fixture.Check(t, err)
	table := fixture.Must(calls.Of(r, "main.f"))(t)
	table.Touching = touching
	return table
}

// A call that may be several is marked in the list of the
// longest, and where it is shown alone.
func TestCallsThatMayBeSeveral(t *testing.T) {
	c := &Calls{Table: tableOf(t, 0), Top: 1}
	for several, want := range map[bool]string{false: "     1  ", true: "     1  below "} {
		c.Calls[0].Several = several
		b := new(strings.Builder)
		c.WriteCall(b, 1, nil)
		list := c.longest()
		if !strings.Contains(list, want) || strings.Contains(list, "came back to a wait") != several ||
			strings.Contains(b.String(), "may be several") != several {
			t.Errorf("several: %t:\n%s%s", several, list, b)
		}
	}
}

// How long calls take is not said if most that were seen are cut: they
// are longer than the others. Probes see short ones, too.
func TestMostCallsCut(t *testing.T) {
	for name, c := range map[string]struct {
		cut    int
		source calls.Source
		want   string
	}{
		"as many": {5, calls.Samples, "\np50 20 to 40ms"},
		"more":    {6, calls.Samples, "\n5 calls from begin to end, the longest 20 to 40ms: too few to say how long calls take\n6 calls had begun before the recording, or ended after it\n"},
		"probes":  {6, calls.Uprobes, "\np50 20 to 40ms"},
	} {
		one := &Calls{Table: tableOf(t, 0)}
		one.Source = c.source
		for range c.cut {
			one.Calls = append(one.Calls, calls.Call{CutEnd: true})
		}
		b := new(strings.Builder)
		if one.head(b); !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: %s", name, b)
		}
	}
}

// A call that is cut, and took longer than all others, is not left out.
func TestLongestOfCutCalls(t *testing.T) {
	for cut, want := range map[time.Duration]bool{time.Hour: true, time.Millisecond: false} {
		c := &Calls{Table: tableOf(t, 0)}
		c.Calls = append([]calls.Call{{CutEnd: true, Took: calls.Range{Least: cut, Most: cut}}}, c.Calls...)
		b := new(strings.Builder)
		if c.head(b); strings.Contains(b.String(), "leave them out; the longest took over 3600s") != want {
			t.Errorf("cut after %s:\n%s", cut, b)
		}
	}
}

// A time is one if it is known up to a tenth.
func TestRangeText(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		least, most time.Duration
		want        string
	}{
		{0, 0, "0s"}, {0, 94 * ms, "below 94ms"}, {58900 * time.Microsecond, 107 * ms, "58.9 to 107ms"},
		{976 * ms, 1300 * ms, "976ms to 1.3s"}, {95 * ms, 105 * ms, "100ms"}, {2 * time.Second, 2 * time.Second, "2s"},
		{500 * ms, 999900 * time.Microsecond, "500ms to 1s"}, {300 * time.Microsecond, 2 * ms, "300µs to 2ms"},
	} {
		if got := RangeText(calls.Range{Least: c.least, Most: c.most}); got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.least, c.most, got, c.want)
		}
	}
}
