// Package page makes one HTML file of a recording, which a
// browser shows without a network: flame graphs of all views, a
// timeline, and tables of the thread classes, locks, findings
// and metrics. The views and tables follow the span that is
// selected in the timeline.
//
// The page has sums and, for each stack, the samples that hit it
// (views.History). Its script sums up the view of any span, with
// the same integers as views does.
//
//	page.go    what to show, and the file: style, script and data in one, under a policy that forbids everything else
//	build.go   makes the views and tables
//	trees.go   call trees with what ends at their nodes; a comparison is one tree
//	tables.go  the tables of classes, locks, findings and metrics
//	server.go  shows the page to browsers of this machine; shown.go has what it made so far
//	calls.go   the calls of a function, their heat map, and the page of their time only, which only a server has
//	tracks.go  what goroutines did over time
//	encode.go  packs all of it: the format that assets/data.js reads
//	assets     the page's own HTML, style and script; the script's files follow one another in the order of page.go
//
// Names come from the recorded program, and are not trusted.
// They are part of the packed data, and the script makes only
// text from them.
package page
