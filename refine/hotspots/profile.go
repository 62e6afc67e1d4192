package hotspots

import "math/big"

// A Profile has summaries and their totals. Costs are exact hits, in Unit. In
// a comparison, they may be negative. A Profile is not safe for concurrent
// use.
type Profile interface {
	// Initial returns the summaries of all call sequences of length 1, by name.
	Initial() []Summary

	// Summary returns the summary of a call sequence of at least one name; if
	// the profile does not have it, it is Empty.
	Summary(path ...string) Summary

	// TotalBase and TotalCum return the base and the cum of a list of
	// summaries of this profile. Nodes that several of them share count once.
	TotalBase(list ...Summary) *big.Rat
	TotalCum(list ...Summary) *big.Rat

	// TotalCums returns TotalCum of list[:1], list[:2] and so on, in the time
	// of one TotalCum.
	TotalCums(list ...Summary) []*big.Rat

	// Overlaps returns how much of the cum and of the base of s is already in
	// each of several lists (section 2.1): cum(s) + cum(list) - cum(s with
	// list), and the same for the bases.
	Overlaps(s Summary, lists ...[]Summary) (cums, bases []*big.Rat)

	// Share returns a cost as a fraction of the whole: of the metric's
	// denominator, or in a comparison of the second profile's denominator.
	Share(cost *big.Rat) *big.Rat

	// Unit returns the unit of costs.
	Unit() string
}

// A Summary is a call sequence, of immediate calls only, with its cost
// wherever it occurs.
type Summary interface {
	// Path returns the call sequence, caller first. It must not be changed.
	Path() []string

	// Empty reports whether the profile does not have the call sequence.
	Empty() bool

	// Base is the own cost of all nodes along the paths labelled with the
	// call sequence. Cum is the cost of these nodes and of all nodes below
	// the paths' ends (section 2.2).
	Base() *big.Rat
	Cum() *big.Rat

	// Own is the own cost of the paths' ends alone. A function owns its typed
	// time, which is below it, so that ":RUN" takes nothing from it.
	Own() *big.Rat

	// TopExtensions and BottomExtensions return the names that can come
	// before and after the call sequence, sorted.
	TopExtensions() []string
	BottomExtensions() []string

	// Tops and Bottoms return the summaries of all extensions, sorted by
	// name, in the time of one.
	Tops() []Summary
	Bottoms() []Summary

	// ExtendTop and ExtendBottom return the summary of the call sequence with
	// a name before or after it.
	ExtendTop(name string) Summary
	ExtendBottom(name string) Summary

	// TrimTop and TrimBottom return the summary without the first or last
	// name; false for a sequence of one.
	TrimTop() (Summary, bool)
	TrimBottom() (Summary, bool)
}

// CumOverlap returns how much of the cum of s is already in the list (section
// 2.1): cum(s) + cum(list) - cum(s with list).
func CumOverlap(p Profile, s Summary, list ...Summary) *big.Rat {
	cums, _ := p.Overlaps(s, list)
	return cums[0]
}
