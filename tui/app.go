package tui

import (
	"context"
	"fmt"
	"math/big"
	"runtime/debug"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/interchange"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/session"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// Options are the recording to show and the settings of the Analyzer.
type Options struct {
	Path      string // of the recording
	Recording *sampledata.Recording
	Config    *config.Config
	Views     views.Options
	Threshold refine.Threshold // the first threshold of every profile window
	NoColor   bool
	Greeting  string // the first message; "" is none

	// Session is the state of the last Analyzer on this recording; nil if there is none.
	Session *session.State

	// Windows are opened at the start, the last one in front, after the summary and the session's windows.
	Windows []session.Window

	// Live makes the recording grow; it is nil if the recording is complete.
	Live *Live

	// Against is compared with the recording from the start; nil if there is no comparison.
	Against *Against

	// Keep is called at the end with the state to keep in the session; it may be nil.
	Keep func(*session.State)

	// Screen is the screen to draw on; nil is the terminal.
	Screen tcell.Screen
}

// Against is another recording, and the view to compare.
type Against struct {
	Path      string
	Recording *sampledata.Recording
	Class     string // of the Thread View; "" for the Server View
}

// Run shows the Analyzer until the user leaves it or ctx is done. If ctx is done, Run returns its cause.
func Run(ctx context.Context, o Options) error {
	screen := o.Screen
	if screen == nil {
		var err error
		if screen, err = tcell.NewScreen(); err != nil {
			return fmt.Errorf("opening the terminal: %w", err)
		}
	}
	if err := screen.Init(); err != nil {
		return fmt.Errorf("opening the terminal: %w", err)
	}
	defer screen.Fini() // tview also ends it, but only after its Run
	a := newApp(o, screen)
	defer context.AfterFunc(ctx, func() { a.post(a.quit) })() // in the loop: Stop has no effect before Run
	if o.Live != nil {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go a.live.watch(ctx)
	}
	if err := a.tv.Run(); err != nil {
		return fmt.Errorf("showing the Analyzer: %w", err)
	}
	if o.Keep != nil {
		o.Keep(a.state())
	}
	return context.Cause(ctx)
}

// An app is a recording and its windows.
type app struct {
	path      string
	recording *sampledata.Recording
	config    *config.Config
	given     *aspects.Set // from the configuration, without those defined in the Analyzer
	options   views.Options
	threshold refine.Threshold
	others    *session.Others // recordings that are compared with this one
	live      *growth         // nil if the recording is complete

	theme        *theme
	tv           *tview.Application
	screen       tcell.Screen
	windows      []window
	active       int
	jobs         map[window]*job
	inBackground int     // number of running background calls
	overlay      overlay // over the active window; nil is none
	prompt       *prompt // nil if no text is asked for
	message      message // the status line's, until the next key
	history      map[string][]string
}

// An overlay covers the window, and takes all keys and the mouse.
type overlay interface {
	draw(canvas)
	key(name string)
	scroll(lines int)
}

// A clickable overlay takes clicks on cells of the screen; a click on another overlay closes it.
type clickable interface{ click(x, y int) }

// A message is one line for the user.
type message struct {
	text  string
	isErr bool
}

// newApp opens the summary window of a recording on an initialized screen.
func newApp(o Options, screen tcell.Screen) *app {
	a := &app{
		path: o.Path, recording: o.Recording, config: o.Config, given: o.Config.Aspects, options: o.Views, threshold: o.Threshold,
		theme: newTheme(screen.Colors(), o.NoColor), tv: tview.NewApplication(), screen: screen,
		jobs: make(map[window]*job), history: make(map[string][]string), others: session.NewOthers(interchange.ReadRecording),
	}
	if o.Live != nil {
		a.live = &growth{Live: *o.Live, a: a}
	}
	screen.EnableMouse()
	screen.EnablePaste()
	a.tv.SetScreen(initialized{screen}).EnableMouse(true).EnablePaste(true)
	a.tv.SetRoot(newRoot(a), true)
	a.tv.SetInputCapture(keepCtrlC)
	if o.Against != nil {
		a.others.Add(o.Against.Path, o.Against.Recording)
	}
	a.restore(o.Session)
	for _, w := range o.Windows {
		a.reopen(w)
	}
	if o.Against != nil {
		showComparison(a, o.Against.Path, session.Profile{Class: o.Against.Class, Threshold: a.threshold})
	}
	a.say("%s", o.Greeting)
	return a
}

// initialized is a screen whose Init was called. tview calls Init again; that call does nothing.
type initialized struct{ tcell.Screen }

func (initialized) Init() error { return nil }

// keepCtrlC makes Ctrl-C an ordinary key: by default, tview would end the app.
func keepCtrlC(e *tcell.EventKey) *tcell.EventKey {
	if e.Key() != tcell.KeyCtrlC {
		return e
	}
	return tcell.NewEventKey(e.Key(), e.Rune(), e.Modifiers())
}

// changed refreshes every window after a change of the recording, the options or the aspects.
func (a *app) changed() {
	for _, w := range a.windows {
		w.refresh()
	}
}

// toggleIdle counts waiting for work in every window, or leaves it out.
func (a *app) toggleIdle() {
	a.options.LeaveOutIdle = !a.options.LeaveOutIdle
	a.changed()
	if a.options.LeaveOutIdle {
		a.say("The time in which goroutines wait for work (@idle) is left out: I counts it.")
		return
	}
	a.say("The time in which goroutines wait for work (@idle) counts: I leaves it out.")
}

// setConfig replaces the configuration in every window.
func (a *app) setConfig(c config.Config) {
	a.config = &c
	a.options = c.Configure(a.options)
	a.changed()
}

// setSpan restricts every window to a span; the zero Span is the whole recording.
func (a *app) setSpan(s views.Span) {
	a.options.Span = s
	a.changed()
}

// post runs f in the event loop, and then draws. Other goroutines use it; it doesn't wait for f.
func (a *app) post(f func()) {
	go a.tv.QueueUpdateDraw(f)
}

// guard passes a panic to the event loop, which restores the terminal before it ends the program.
func (a *app) guard() {
	if p := recover(); p != nil {
		text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		a.post(func() { panic(text) })
	}
}

// say shows a line until the next key.
func (a *app) say(format string, args ...any) {
	a.message = message{text: fmt.Sprintf(format, args...)}
}

// fail shows an error until the next key.
func (a *app) fail(err error) { a.message = message{err.Error(), true} }

func (a *app) quit() { a.tv.Stop() }

func hits(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
