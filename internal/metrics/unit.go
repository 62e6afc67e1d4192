package metrics

import (
	"slices"
	"strings"
)

// A Unit is what a metric's numbers count: a product of units
// over another one. The zero Unit is for plain numbers and
// numbers of things.
type Unit struct {
	over, under string // units joined by *, in ascending order
}

// NewUnit returns the unit of a monitor, such as "bytes".
func NewUnit(name string) Unit { return Unit{over: name} }

// String returns the unit in words: "bytes", "ns/s", "1/s", "".
func (u Unit) String() string {
	switch {
	case u.under == "":
		return u.over
	case u.over == "":
		return "1/" + u.under
	}
	return u.over + "/" + u.under
}

func factors(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "*")
}

func (u Unit) times(v Unit) Unit {
	over := append(factors(u.over), factors(v.over)...)
	var under []string
	for _, f := range append(factors(u.under), factors(v.under)...) {
		if i := slices.Index(over, f); i >= 0 {
			over = slices.Delete(over, i, i+1)
		} else {
			under = append(under, f)
		}
	}
	slices.Sort(over)
	slices.Sort(under)
	return Unit{strings.Join(over, "*"), strings.Join(under, "*")}
}

func (u Unit) dividedBy(v Unit) Unit { return u.times(Unit{v.under, v.over}) }

// common returns the unit of a sum: the unit of both, or none if
// they differ. A plain number takes the unit of the other.
func common(a, b operand) Unit {
	switch {
	case a.unit == b.unit, b.constant:
		return a.unit
	case a.constant:
		return b.unit
	}
	return Unit{}
}
