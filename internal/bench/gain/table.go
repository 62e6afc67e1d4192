//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
)

// noise is how far two measurements of one program differ at most, usually.
const noise = 1.1

// printTable prints the table, and how well predictions agree with what was measured.
func printTable(rows []row) {
	fmt.Println("program       left  law      measured  predicted")
	var known []row
	for _, r := range rows {
		if r.gain.Silent != "" {
			fmt.Printf("%-13s %-5s silent: %s\n", r.name, r.left, r.gain.Silent)
			continue
		}
		known = append(known, r)
		fmt.Printf("%-13s %-5s %-8s %8.2f  %8.2f (%.2f to %.2f)\n", r.name, r.left, r.gain.Law,
			r.measured, r.times, r.low, r.high)
	}
	if len(known) == 0 {
		return
	}
	var errors, measured, predicted []float64
	right := 0
	for _, r := range known {
		errors = append(errors, math.Abs(r.times-r.measured)/r.measured)
		measured, predicted = append(measured, r.measured), append(predicted, r.times)
		if r.measured <= noise*r.high {
			right++
		}
	}
	slices.Sort(errors)
	fmt.Printf("%d predictions: Spearman %.2f, median error %.0f %%, \"at most\" right in %d; %d silent\n",
		len(known), correlation(ranks(measured), ranks(predicted)), 100*errors[len(errors)/2], right,
		len(rows)-len(known))
}

// ranks returns the ranks of values; equal values share theirs.
func ranks(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		for _, other := range values {
			if other < v {
				all[i]++
			} else if other == v {
				all[i] += 0.5
			}
		}
	}
	return all
}

func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var sx, sy, xx, yy, xy float64
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		xx, yy, xy = xx+x[i]*x[i], yy+y[i]*y[i], xy+x[i]*y[i]
	}
	return (n*xy - sx*sy) / math.Sqrt((n*xx-sx*sx)*(n*yy-sy*sy))
}
