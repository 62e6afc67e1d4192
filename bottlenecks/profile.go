package bottlenecks

import "math/big"

// A Profile gives summaries and their totals. Costs are exact hits, in Unit; those of a comparison may be negative.
// A profile is not safe for concurrent use.
type Profile interface {
	// Initial returns the summaries of all call sequences of length 1, by name.
	Initial() []Summary

	// Summary returns the summary of a call sequence of at least one name; where the profile does not have it, it is Empty.
	Summary(path ...string) Summary

	// TotalBase and TotalCum are the base and the cum of a list of summaries of this profile: what several of
	// them share counts once.
	TotalBase(list ...Summary) *big.Rat
	TotalCum(list ...Summary) *big.Rat

	// TotalCums returns TotalCum of list[:1], list[:2] and so on, at the price of one TotalCum.
	TotalCums(list ...Summary) []*big.Rat

	// Overlaps returns how much of the cum and of the base of s is in each of several lists already (section 2.1):
	// cum(s) + cum(list) - cum(s with list), and the same of the bases.
	Overlaps(s Summary, lists ...[]Summary) (cums, bases []*big.Rat)

	// Share returns a cost as a fraction of the whole: of the metric's denominator; in a comparison, of that of the
	// second profile.
	Share(cost *big.Rat) *big.Rat

	// Unit says what costs are counted in.
	Unit() string
}

// A Summary stands for a call sequence, of immediate calls only, wherever it occurs.
type Summary interface {
	// Path is the call sequence, caller first. It must not be changed.
	Path() []string

	// Empty reports whether the profile does not have the call sequence.
	Empty() bool

	// Base is the own cost of all nodes along the paths that the call sequence labels; Cum that of these and of all
	// nodes below the paths' ends (section 2.2).
	Base() *big.Rat
	Cum() *big.Rat

	// TopExtensions and BottomExtensions give the names that can precede and follow the call sequence, sorted.
	TopExtensions() []string
	BottomExtensions() []string

	// Tops and Bottoms give the summaries of all extensions, sorted by name, at the price of one.
	Tops() []Summary
	Bottoms() []Summary

	// ExtendTop and ExtendBottom give the summary of the call sequence with a name before or after it.
	ExtendTop(name string) Summary
	ExtendBottom(name string) Summary

	// TrimTop and TrimBottom give the summary without the first or last name; false for a sequence of one.
	TrimTop() (Summary, bool)
	TrimBottom() (Summary, bool)
}

// CumOverlap is how much of the cum of s is in the list already (section 2.1): cum(s) + cum(list) - cum(s with list).
func CumOverlap(p Profile, s Summary, list ...Summary) *big.Rat {
	cums, _ := p.Overlaps(s, list)
	return cums[0]
}
