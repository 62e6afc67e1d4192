package report

import (
	"math/big"

	"github.com/cpprof/cpprof/views"
)

// A ClassColumn is a number that is known of every thread class. The table of 'cpprof classes' has a column for each, and so
// has the Analyzer's summary.
type ClassColumn struct {
	Name  string // the head of the column
	Short string // its head on a screen; "" if it has none there
	Value func(*views.ClassSummary) *big.Rat

	Text  func(value *big.Rat) string
	Brief func(value *big.Rat) string // on a screen

	// Leave says which columns a narrow screen leaves out first, from 1 on; 0 is none of these.
	Leave int
}

// ClassNumbers are what there is to know of a class beside its typed time.
var ClassNumbers = []ClassColumn{
	{
		Name: "count", Short: "count", Text: Hits, Brief: Hits, Leave: 2,
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
}

// ClassShares are the shares of the typed times in a class's lifetime.
var ClassShares = classShares()

func classShares() (columns []ClassColumn) {
	for t := range views.NumTypedTimes {
		columns = append(columns, ClassColumn{
			Name: t.Name(), Short: t.Short(), Text: Cost, Brief: percentNumber, Leave: 1,
			Value: func(c *views.ClassSummary) *big.Rat { return c.Shares()[t] },
		})
	}
	return columns
}

func oneDecimal(value *big.Rat) string { return Decimal(value, 1) }

// percentNumber shows a share of 1 as a whole percentage, without the sign.
func percentNumber(share *big.Rat) string {
	return Decimal(new(big.Rat).Mul(share, big.NewRat(100, 1)), 0)
}
