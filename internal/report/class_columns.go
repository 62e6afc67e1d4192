package report

import (
	"math/big"

	"github.com/cpprof/cpprof/views"
)

// A ClassColumn is a number that every thread class has. The table of 'cpprof
// classes' and the Analyzer's summary have a column for each. If these
// compare two recordings, they have the columns that Compared makes of it.
type ClassColumn struct {
	Name  string // the head of the column
	Short string // the head in the Analyzer; "" if the column is not shown there
	Value func(*views.ClassSummary) *big.Rat

	Text  func(value *big.Rat) string
	Brief func(value *big.Rat) string // in the Analyzer

	// Leave is the order in which a narrow screen leaves out columns,
	// beginning with 1; 0 means that the column stays.
	Leave int

	compared comparedAs
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
		Value: func(c *views.ClassSummary) *big.Rat { return big.NewRat(int64(c.Goroutines), 1) },
	},
	{
		Name: "instances", Text: Hits,
		Value: func(c *views.ClassSummary) *big.Rat { return big.NewRat(c.Hits, 1) },
	},
	{
		Name: "alive", Short: "alive", Text: oneDecimal, Brief: oneDecimal, compared: inBoth,
		Value: func(c *views.ClassSummary) *big.Rat { return c.MeanAlive },
	},
	{
		Name: "idle", Short: "idle", Text: Cost, Brief: percentNumber, Leave: 1,
		compared: difference,
		Value:    (*views.ClassSummary).IdleShare,
	},
}

// ClassShares are the columns of the typed times, as shares of a class's
// lifetime.
var ClassShares = classShares()

func classShares() (columns []ClassColumn) {
	for t := range views.NumTypedTimes {
		columns = append(columns, ClassColumn{
			Name: t.Name(), Short: t.Short(), Text: Cost, Brief: percentNumber, Leave: 2,
			compared: difference,
			Value:    func(c *views.ClassSummary) *big.Rat { return c.Shares()[t] },
		})
	}
	return columns
}

// A ComparedColumn is a number that a thread class has in a comparison of two
// recordings.
type ComparedColumn struct {
	Name, Short string
	Value       func(*views.ClassPair) *big.Rat // nil if a recording without the class lacks it
	Text, Brief func(value *big.Rat) string
	Leave       int
	missing     string // the cell if there is no number
}

// Cell returns the text of a class's number, formatted by Text or Brief.
func (c *ComparedColumn) Cell(p *views.ClassPair, format func(*big.Rat) string) string {
	if value := c.Value(p); value != nil {
		return format(value)
	}
	return c.missing
}

// Compared returns the columns of a comparison that are made of columns of
// one recording.
func Compared(columns []ClassColumn) (list []ComparedColumn) {
	for _, c := range columns {
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
	of func(*views.ClassPair) *views.ClassSummary) ComparedColumn {
	return ComparedColumn{
		Name: name, Short: short, Text: c.Text, Brief: c.Brief, Leave: c.Leave, missing: "-",
		Value: func(p *views.ClassPair) *big.Rat {
			if of(p) == nil {
				return nil
			}
			return c.Value(of(p))
		},
	}
}

func (c ClassColumn) difference() ComparedColumn {
	return ComparedColumn{
		Name: Delta + c.Name, Short: Delta + c.Short, Text: Signed, Leave: c.Leave,
		Brief: func(value *big.Rat) string { return withSign(c.Brief(value), value) },
		Value: func(p *views.ClassPair) *big.Rat {
			if !p.Common() {
				return nil
			}
			return new(big.Rat).Sub(c.Value(p.New), c.Value(p.Old))
		},
	}
}

// Delta marks a difference of two recordings: new minus old.
const Delta = "Δ"

// MovedColumn is the share of its time that a class spends otherwise than
// before.
var MovedColumn = ComparedColumn{
	Name: "moved", Short: "moved", Text: Cost, Brief: percentNumber, Leave: 4,
	Value: (*views.ClassPair).Moved,
}

func oneDecimal(value *big.Rat) string { return Decimal(value, 1) }

// percentNumber formats a share of 1 as a whole percentage, without the sign.
func percentNumber(share *big.Rat) string {
	return Decimal(new(big.Rat).Mul(share, big.NewRat(100, 1)), 0)
}
