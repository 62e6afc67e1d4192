//go:build linux && (amd64 || arm64)

package main

// measures are the costs of sampling.
type measures struct {
	Median, P90, P99, Longest int     // of the halts, in µs
	CPU                       float64 // processor time of the sampler, in cores, without attaching
	Halted                    float64 // share of the time that the target was halted
	Rate                      float64 // samples a second
	MB                        int     // largest memory use of the sampler
	Reused                    float64 // share of the stacks that were reused
	Rechecked, Wrong          int
}
