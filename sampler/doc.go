// Package sampler records running Go programs.
//
// A Backend takes one sample at a time: package snapshot on
// Linux, package delve elsewhere. Record asks it for samples,
// paces them, and keeps within the bounds of Options. The
// samples go to a sampledata.Sink.
//
//	process.go   finds, starts and watches the program
//	record.go    the loop; readings.go: the monitors; pacer.go: when the next sample is due
//	programs.go  records the programs that a command starts
//	feed.go      a recording that grows, for who looks on
//
// On Linux, a program is halted for each sample, and nothing is
// written to it.
package sampler
