package report

import (
	"math/big"

	"github.com/cpprof/cpprof/views"
)

// A ClassColumn is a number that every thread class has, in one
// recording or in a comparison of two. The table of 'cpprof
// classes' and the Analyzer's summary have a column for each.
type ClassColumn struct {
	Name  string // the head of the column
	Short string // the head in the Analyzer; "" if the column is not shown there

	// Value is of the new recording, if there are two. It is nil
	// if a recording without the class lacks it.
	Value func(*views.ClassPair) *big.Rat

	Text  func(value *big.Rat) string
	Brief func(value *big.Rat) string // in the Analyzer

	// Leave is the order in which a narrow screen leaves out
	// columns, beginning with 1; 0 means that the column stays.
	Leave int

	missing  string // the cell if there is no number
	compared comparedAs
}

// ofClass makes the value of a column from the one that a class has.
func ofClass(value func(*views.ClassSummary) *big.Rat) func(*views.ClassPair) *big.Rat {
	return func(p *views.ClassPair) *big.Rat {
		if p.New == nil {
			return nil
		}
		return value(p.New)
	}
}

// Cell returns the text of a class's number, formatted by Text or Brief.
func (c *ClassColumn) Cell(p *views.ClassPair, format func(*big.Rat) string) string {
	if value := c.Value(p); value != nil {
		return format(value)
	}
	return c.missing
}

// comparedAs says which columns of a comparison are made of a column.
type comparedAs uint8

const (
	notCompared comparedAs = iota
	inBoth                 // the old number, and the new one
	difference             // the new number minus the old one
)

// ClassNumbers are the columns of a class before its typed times.
var ClassNumbers = []ClassColumn{
	{
		Name: "count", Short: "count", Text: Hits, Brief: Hits, Leave: 3,
		Value: ofClass(func(c *views.ClassSummary) *big.Rat { return big.NewRat(int64(c.Goroutines), 1) }),
	},
	{
		Name: "instances", Text: Hits,
		Value: ofClass(func(c *views.ClassSummary) *big.Rat { return big.NewRat(c.Hits, 1) }),
	},
	{
		Name: "alive", Short: "alive", Text: oneDecimal, Brief: oneDecimal, compared: inBoth,
		Value: ofClass(func(c *views.ClassSummary) *big.Rat { return c.MeanAlive }),
	},
	{
		Name: "idle", Short: "idle", Text: Cost, Brief: percentNumber, Leave: 1,
		compared: difference,
		Value:    ofClass((*views.ClassSummary).IdleShare),
	},
}

// ClassShares are the columns of the typed times, as shares of a
// class's lifetime.
var ClassShares = classShares()

func classShares() (columns []ClassColumn) {
	for t := range views.NumTypedTimes {
		columns = append(columns, ClassColumn{
			Name: t.Name(), Short: t.Short(), Text: Cost, Brief: percentNumber, Leave: 2,
			compared: difference,
			Value:    ofClass(func(c *views.ClassSummary) *big.Rat { return c.Shares()[t] }),
		})
	}
	return columns
}

// Compared returns the columns of a comparison that are made of
// columns of one recording. They stay longer than the Analyzer's
// bars.
func Compared(columns []ClassColumn) (list []ClassColumn) {
	for _, c := range columns {
		c.Leave += min(c.Leave, 1)
		switch c.compared {
		case inBoth:
			list = append(list, c.side(c.Name+" old", "was", (*views.ClassPair).OldSide),
				c.side("new", c.Short, (*views.ClassPair).NewSide))
		case difference:
			list = append(list, c.difference())
		}
	}
	return list
}

func (c ClassColumn) side(name, short string,
	of func(*views.ClassPair) *views.ClassSummary) ClassColumn {
	value := c.Value
	c.Name, c.Short, c.missing = name, short, "-"
	c.Value = func(p *views.ClassPair) *big.Rat { return value(&views.ClassPair{New: of(p)}) }
	return c
}

func (c ClassColumn) difference() ClassColumn {
	d := c
	d.Name, d.Short, d.Text = Delta+c.Name, Delta+c.Short, Signed
	d.Brief = func(value *big.Rat) string { return withSign(c.Brief(value), value) }
	d.Value = func(p *views.ClassPair) *big.Rat {
		if !p.Common() {
			return nil
		}
		return new(big.Rat).Sub(c.Value(p), c.Value(&views.ClassPair{New: p.Old}))
	}
	return d
}

// Delta marks a difference of two recordings: new minus old.
const Delta = "Δ"

// MovedColumn is the share of its time that a class spends
// otherwise than before.
var MovedColumn = ClassColumn{
	Name: "moved", Short: "moved", Text: Cost, Brief: percentNumber, Leave: 5,
	Value: (*views.ClassPair).Moved,
}

func oneDecimal(value *big.Rat) string { return Decimal(value, 1) }

// percentNumber formats a share of 1 as a whole percentage,
// without the sign.
func percentNumber(share *big.Rat) string {
	return Decimal(new(big.Rat).Mul(share, big.NewRat(100, 1)), 0)
}
