package report

import (
	"math/big"

	"github.com/cpprof/cpprof/views"
)

// A ClassColumn is a number that every thread class has. The table of 'cpprof classes' and the Analyzer's summary have a
// column for each.
type ClassColumn struct {
	Name  string // the head of the column
	Short string // the head in the Analyzer; "" if the column is not shown there
	Value func(*views.ClassSummary) *big.Rat

	Text  func(value *big.Rat) string
	Brief func(value *big.Rat) string // in the Analyzer

	// Leave is the order in which a narrow screen leaves out columns, beginning with 1; 0 means that the column stays.
	Leave int
}

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
		Name: "alive", Short: "alive", Text: oneDecimal, Brief: oneDecimal,
		Value: func(c *views.ClassSummary) *big.Rat { return c.MeanAlive },
	},
	{
		Name: "idle", Short: "idle", Text: Cost, Brief: percentNumber, Leave: 1,
		Value: (*views.ClassSummary).IdleShare,
	},
}

// ClassShares are the columns of the typed times, as shares of a class's lifetime.
var ClassShares = classShares()

func classShares() (columns []ClassColumn) {
	for t := range views.NumTypedTimes {
		columns = append(columns, ClassColumn{
			Name: t.Name(), Short: t.Short(), Text: Cost, Brief: percentNumber, Leave: 2,
			Value: func(c *views.ClassSummary) *big.Rat { return c.Shares()[t] },
		})
	}
	return columns
}

func oneDecimal(value *big.Rat) string { return Decimal(value, 1) }

// percentNumber formats a share of 1 as a whole percentage, without the sign.
func percentNumber(share *big.Rat) string {
	return Decimal(new(big.Rat).Mul(share, big.NewRat(100, 1)), 0)
}
