// Package sampledata keeps recordings: what a sampler saw of one target, in memory, in files and as text.
//
// The way through it:
//
//  1. A sampler hands what it sees to a [Sink], sample by sample, and only what changed. [Writer] (made by
//     [Create]) is the sink that writes files; [Builder] is the one that keeps everything in memory.
//  2. A [Recording] is the form that everything else reads: tables of functions, stacks, goroutines, labels and
//     holders, and the runs of states over the samples. [Open] reads it from files, [Builder.Recording] gives it
//     while it grows, [Recording.Write] puts it into files. [Recording.Check] holds it against all its rules.
//  3. [WriteText] and [ReadText] are its twin in text, for people and for tests; the grammar stands at [ReadText].
//  4. Values beside the stacks are a [Series] for each [Monitor]: a sampler hands over what a monitor measured with
//     [Sink].Measure, and what has changed goes into the next sample. What was not measured is not 0.
//  5. [Recording.Stats] sums up what was recorded and what it cost the target.
//
// # Files
//
// A recording is a folder, by custom NAME.cpprof, of two files: Strings gives integer codes to strings, SampleData
// holds everything else by code. sampledata.proto defines both, framing and checksums included, so that a
// sampler in another language can be written from that file alone.
//
// A file that is damaged, or torn because its sampler was killed, is read up to the first damaged frame.
// What lies behind it is left out, even where it is intact: it would tell changes against a state that is not known.
// How much that is stands in a [Warning] of kind [DamagedFile].
//
// Readers trust nothing: a file or a text that breaks a rule gives an error or a warning that names the place,
// and memory stays in proportion to its size.
package sampledata
