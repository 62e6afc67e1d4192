// Package hotspots finds the few call sequences that cause most
// of a profile's cost (Ammons, Choi, Gupta and Swamy: Finding
// and Removing Performance Bottlenecks in Large Systems; "the
// paper" below).
//
//  1. Trees and Summary are the paper's profile interface (section 2.1, figure 3): a summary is a call
//     sequence, has a base and a cum, and can be extended and trimmed at both ends; a profile has the totals of
//     several summaries, in which overlap counts once. NewSingle makes it of a call tree, NewComparison
//     of the difference of two (section 2.2).
//  2. Zoom and ZoomTrim skip the steps that an expert would certainly take (section 2.3).
//  3. A Suggester lists summaries to start from.
//  4. Find is the expert's whole loop, automatic: suggest, zoom, label, and again for the cost that is not yet covered.
package hotspots
