//go:build linux

package main

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/bench/forecast"
)

// printTable prints the table, and how well predictions agree
// with what was measured.
func printTable(rows []row) {
	fmt.Println("program       left  law      measured  predicted")
	var known []forecast.Forecast
	for _, r := range rows {
		if !r.known {
			fmt.Printf("%-13s %-5s silent: %s\n", r.name, r.left, r.gain.Silent)
			continue
		}
		known = append(known, r.Forecast)
		fmt.Printf("%-13s %-5s %-8s %8.2f  %8.2f (%.2f to %.2f)\n", r.name, r.left, r.gain.Law,
			r.Measured, r.Times, r.Low, r.High)
	}
	fmt.Printf("%s; %d silent\n", forecast.Agreement(known), len(rows)-len(known))
}
