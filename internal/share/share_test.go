package share

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rat formats a number, or returns "-" if there is none.
func rat(r *big.Rat) string {
	if r == nil {
		return "-"
	}
	return r.RatString()
}

// The table has the result of each of the three parsers for a
// text: a number, or "-" for an error.
func TestReaders(t *testing.T) {
	for _, c := range []struct{ text, share, ratio, thresholdHits, thresholdCost string }{
		{"0", "0", "0", "0", "-"},
		{"1", "1", "1", "1", "-"},
		{"10", "-", "10", "10", "-"},
		{"007", "-", "7", "7", "-"},
		{"5%", "1/20", "1/20", "-", "1/20"},
		{"5 %", "1/20", "1/20", "-", "1/20"},
		{" 5% ", "1/20", "1/20", "-", "1/20"},
		{"0.5%", "1/200", "1/200", "-", "1/200"},
		{"100%", "1", "1", "-", "1"},
		{"0.05", "1/20", "1/20", "-", "1/20"},
		{".5", "1/2", "1/2", "-", "1/2"},
		{"1.0", "1", "1", "-", "1"},
		{"1.5", "-", "3/2", "-", "-"},
		{"500%", "-", "5", "-", "-"},
		{"100.0001%", "-", "1000001/1000000", "-", "-"},
		{"10 hits", "-", "-", "10", "-"},
		{"1 hit", "-", "-", "1", "-"},
		{"0.5 hits", "-", "-", "-", "-"},
		{"99999999999999999999", "-", "99999999999999999999", "-", "-"},
		{"", "-", "-", "-", "-"},
		{"%", "-", "-", "-", "-"},
		{".", "-", "-", "-", "-"},
		{"hits", "-", "-", "-", "-"},
		{"5%%", "-", "-", "-", "-"},
		{"5 % hits", "-", "-", "-", "-"},
		{"-1", "-", "-", "-", "-"},
		{"+1", "-", "-", "-", "-"},
		{"1e3", "-", "-", "-", "-"},
		{"1e999999999", "-", "-", "-", "-"},
		{"0x10", "-", "-", "-", "-"},
		{"1_0", "-", "-", "-", "-"},
		{"1/20", "-", "-", "-", "-"},
		{"1.2.3", "-", "-", "-", "-"},
		{"NaN", "-", "-", "-", "-"},
		{"0." + strings.Repeat("1", longest), "-", "-", "-", "-"},
	} {
		share, _ := Parse(c.text)
		ratio, _ := ParseRatio(c.text)
		th, tc, _ := ParseThreshold(c.text)
		if got := [4]string{rat(share), rat(ratio), rat(th), rat(tc)}; got != [4]string{c.share, c.ratio, c.thresholdHits, c.thresholdCost} {
			t.Errorf("%q: share, ratio, threshold %v; want %v", c.text, got, c)
		}
	}
}

// An error says what to type.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"5":    "for 5 percent write 5%",
		"101%": "100% at most",
		"200":  "1 or 100% at most",
		"lots": "such as 5% or 0.05",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Parse returns the share that Percent formatted.
func TestPercentReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := big.NewRat(rapid.Int64Range(0, 1_000_000).Draw(t, "millionths"), 1_000_000)
		got, err := Parse(Percent(r))
		if err != nil || got.Cmp(r) != 0 {
			t.Fatalf("%s, as %s, becomes %v, %v", r, Percent(r), got, err)
		}
	})
}
