// Package tui is the Analyzer: the second half of the CPPROFJ paper's tool (section 5), in which a person browses
// the refinement trees of a recording in the terminal.
//
// It computes nothing of its own: entries come from package refine, views and classes from package views, costs from
// package callpath, files from package report.
//
//	app.go      the recording with its options, the windows as tabs, and the loop that runs them
//	window.go   what a window is, and how windows are opened, switched and closed
//	kinds.go    the table of the kinds of windows
//	keys.go     bindings: the one table from which keys, buttons and help come
//	list.go     lines of which one is selected; pager.go: texts that scroll
//	jobs.go     work beside the event loop; lazy.go: values that it computes when they are needed
//	root.go     the layout of the screen (bars.go, help.go and prompt.go its parts)
//	theme.go    colours and icons; canvas.go, names.go: text into cells
//	summary*.go the summary window; timeline*.go the strip above its table, on which a span is selected
//	profile*.go profile windows (slider.go, detail.go, source.go and labels.go their parts)
//	subjects.go what a profile window can be of; compared.go: two recordings
//	locks*.go   the window of the locks; parties.go whom goroutines may wait for if that is no lock
//	session.go  what the Analyzer is left with, and opened again
//	live.go     a recording that grows while it is shown
//
// # Windows
//
// A window (see the interface) is a tview.Primitive together with its bindings and commands. It draws itself on a
// canvas, cell by cell, so that no name is ever read as markup; canvas.text escapes what a terminal would interpret. Keys
// never reach the primitive: the app looks them up in bindings() and calls do. Text is asked for with app.ask.
// The mouse reaches the primitive's MouseHandler, with the body's coordinates; a double click comes as a click unless
// both were on the same cell.
//
// # One goroutine
//
// Everything is owned by the goroutine of the event loop. What may take longer than a few milliseconds is work for start,
// which calls it beside the loop, on nothing that changes meanwhile, and hands its result to a function in the loop. A window
// has at most one job. Keys that are pressed while it has one wait for its end (app.waits), except those of the app itself:
// windows can be switched, and Esc cancels. A feed, such as a recording that grows, hands things in with app.post.
//
// # Options
//
// app.recording, app.options (with the span), app.config with its aspects belong to all windows. Who changes one calls
// app.changed, which calls every window's refresh; profile windows then build their view anew and replay their steps.
package tui
