package main

// measures are what sampling cost.
type measures struct {
	Median, P90, P99, Longest int     // of the halts, in µs
	CPU                       float64 // of the sampler, in cores, without attaching
	Rate                      float64 // samples a second
	MB                        int     // of the sampler, at most
	Reused                    float64 // share of the stacks
	Rechecked, Wrong          int
}
