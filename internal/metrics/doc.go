// Package metrics computes with what was measured beside the
// samples of a recording: metrics, sample lists, statistics and
// correlations (vertical profiling: Hauswirth and others,
// sections 2.4 and 5.4).
//
// A Table has a Column of values for each monitor of a
// recording, and for what the samples know by themselves. The
// files are, in the order of the work:
//
//	column.go     columns, and the time between samples
//	table.go      names: monitors, metrics and lists; series.go reads the recording's series
//	even.go       counters that are not read at each sample
//	sampled.go    monitors that are computed from the samples: goroutines by state, hits of a call path
//	scan.go       finds names and call paths in the text of an expression
//	parse.go      parses an expression, and compiles it (operators.go, functions.go) into a Metric (metric.go)
//	node.go       evaluates an expression, block by block
//	unit.go       units of metrics
//	lane.go       metrics over parts of the time
//	list.go       sample lists; sets.go computes them
//	stats.go      statistics of a metric
//	correlate.go  correlations of two metrics; caveats.go: what makes them doubtful; chance.go: how likely they are by chance
//	rank.go       ranks everything by how it goes with a metric (shortlist.go: the best of many; paths.go: call paths)
//	steps.go      when a number of goroutines changed
//	effect.go     what differs with something and without it
//	utilisation.go  the CPUs used, by samples and by the kernel's clock
//	groups.go     correlations over spans of samples, and over recordings
package metrics
