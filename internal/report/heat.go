package report

import "math/big"

// HeatLevels is the number of levels of costs, each with a warmer or cooler
// colour (CPPROFJ, section 5).
const HeatLevels = 5

// heatFrom has the least cost of each level except the last, which has none.
var heatFrom = [HeatLevels - 1]*big.Rat{big.NewRat(1, 2), big.NewRat(1, 5), big.NewRat(1, 20),
	big.NewRat(1, 100)}

// HeatLevel returns the level of a cost: 0 is the warmest.
func HeatLevel(cost *big.Rat) int {
	for i, from := range heatFrom {
		if cost.Cmp(from) >= 0 {
			return i
		}
	}
	return HeatLevels - 1
}

// heat has the levels' colours, from the 16 that every terminal has: bold
// red, red, yellow, green, cyan.
var heat = [HeatLevels]string{"\x1b[1;31m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m"}

// paint returns a line in the colour of its cost.
func paint(color bool, cost *big.Rat, line string) string {
	if !color {
		return line
	}
	return heat[HeatLevel(cost)] + line + "\x1b[0m"
}
