// Package sampledata keeps recordings: what a sampler saw of one
// target, in memory, in files and as text.
//
// An overview:
//
//  1. A sampler passes what it sees to a [Sink], sample by sample, and only what changed. [Writer] (made by
//     [Create]) is a sink that writes files; [Builder] is a sink that keeps everything in memory.
//  2. A [Recording] is the form that all readers use: tables of functions, stacks, goroutines, labels and
//     holders, and the runs of states over the samples. [Open] reads it from files, [Builder.Recording] returns it
//     while it grows, [Recording.Write] writes it to files. [Recording.Check] checks it against all its rules.
//  3. [WriteText] and [ReadText] write and read it as text, for people and for tests; [ReadText] has the grammar.
//  4. Each [Monitor] has a [Series] of values, beside the stacks. A sampler passes what a monitor measured to
//     [Sink].Measure, and the next sample records what changed. A value that was not measured is not 0.
//  5. [Recording.Stats] sums up what was recorded and what it cost the target.
//
// # Files
//
// A recording is a folder, by custom NAME.cpprof, with two
// files: Strings assigns integer codes to strings, and
// SampleData contains everything else, with these codes.
// sampledata.proto defines both, framing and checksums included.
// A sampler in another language can be written from that file
// alone.
//
// A file may be damaged, or torn because its sampler was killed.
// Readers read it up to the first damaged frame. They skip the
// rest even if it is intact: it describes changes to a state
// that is not known. A [Warning] of kind [DamagedFile] says how
// much was skipped.
//
// Readers trust nothing: if a file or a text breaks a rule, they
// return an error or a warning that names the place. Their
// memory stays in proportion to the size of the input.
package sampledata
