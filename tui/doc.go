// Package tui is the Analyzer: the second half of the CPPROFJ
// paper's tool (section 5), in which a user browses the
// refinement trees of a recording in the terminal.
//
// It does no analysis itself: entries come from package refine,
// views and classes from package views, costs from package
// callpath, files from package report.
//
//	app.go      the recording with its options, and the windows as tabs
//	loop.go     the event loop; terminal*.go, tty.go: a terminal that can be ended at any time; screen.go: opening it
//	kinds.go    the window interface, and the table of the kinds of windows
//	keys.go     bindings: the one table for keys, buttons and help; commands.go: lines after ":"
//	list.go     lines with a selected one; pager.go: texts that scroll
//	jobs.go     work on other goroutines; lazy.go: values computed there on demand
//	root.go     the layout of the screen (bars.go and prompt.go are its parts)
//	theme.go    colours and icons; canvas.go: text into cells
//	summary*.go the summary window; timeline*.go the strip above its table, on which a span is selected, with
//	            metrics below it (lanes.go)
//	profile*.go profile windows (slider.go, detail.go and editor.go their parts)
//	subjects.go the possible contents of profile windows; against.go: two recordings
//	tree.go     the window of a view's call tree, with the search for bottlenecks
//	locks*.go   the window of the locks
//	findings.go the window of what is slow, and why
//	calls.go    the heat map of a function's calls; tracks.go: what goroutines did over time
//	matrix.go   metrics against one another; scatter.go: two of them; samples.go: what both draw
//	frame.go    the cursor of these four, and a rectangle that is drawn
//	session.go  the state that a session keeps and restores
//	live.go     a recording that grows while it is shown
//
// # Windows
//
// A window (see the interface) has bindings and commands. It
// draws itself on a canvas, cell by cell, so that no name is
// ever read as markup; canvas.text escapes what a terminal would
// interpret. Keys never reach a window: the app finds them in
// bindings() and calls do. app.ask asks for text. The mouse
// reaches the method mouse, with the coordinates of the screen;
// a double click arrives as a click unless both clicks were on
// the same cell.
//
// # One goroutine
//
// The goroutine of the event loop owns everything. Code that may
// take longer than a few milliseconds goes to start. That calls
// it on another goroutine, on data that does not change
// meanwhile, and passes its result to a function in the loop. A
// window has at most one job. While it has one, its keys wait
// for the end of the job (app.waits); the keys of the app do
// not: users can switch windows, and Esc cancels the job. A
// source of data, such as a recording that grows, delivers it
// with app.post.
//
// # Options
//
// All windows share app.recording, app.options (with the span)
// and app.config with its aspects. Code that changes one of them
// calls app.changed, which calls every window's refresh; profile
// windows then build their view again and replay their steps.
package tui
