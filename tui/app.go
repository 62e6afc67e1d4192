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

// Options say what is shown, and how.
type Options struct {
	Path      string // of the recording
	Recording *sampledata.Recording
	Config    *config.Config
	Views     views.Options
	Threshold refine.Threshold // of every profile window at first
	NoColor   bool
	Greeting  string // the first message; "" is none

	// Session is what the Analyzer was left with; nil: nothing.
	Session *session.State

	// Windows are open from the start, the last one in front, beside the summary and what the session has.
	Windows []session.Window

	// Live is how the recording grows; nil if it is complete.
	Live *Live

	// Against is what the recording is compared with from the start; nil: nothing.
	Against *Against

	// Keep is called at the end with what a session keeps; nil: nobody asks for it.
	Keep func(*session.State)

	// Screen is where everything is shown; nil is the terminal.
	Screen tcell.Screen
}

// Against is another recording, and the view that is compared with its own.
type Against struct {
	Path      string
	Recording *sampledata.Recording
	Class     string // whose Thread View it is; "" for the Server View
}

// Run shows the Analyzer until a person leaves it, or ctx is done. Then it returns the cause of that.
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
	defer screen.Fini() // tview ends it, too, but only if it was run
	a := newApp(o, screen)
	defer context.AfterFunc(ctx, func() { a.post(a.quit) })() // in the loop: Stop would not stop what has not begun
	if o.Live != nil {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go a.live.follow(ctx)
	}
	if err := a.tv.Run(); err != nil {
		return fmt.Errorf("showing the Analyzer: %w", err)
	}
	if o.Keep != nil {
		o.Keep(a.state())
	}
	return context.Cause(ctx)
}

// An app is a recording and the windows onto it.
type app struct {
	path      string
	recording *sampledata.Recording
	config    *config.Config
	given     *aspects.Set // by the configuration, before anything was defined here
	options   views.Options
	threshold refine.Threshold
	others    *session.Others // that are compared with the recording
	live      *growth         // nil if the recording is complete

	theme   *theme
	tv      *tview.Application
	screen  tcell.Screen
	windows []window
	active  int
	jobs    map[window]*job
	besides int     // pieces of work under way that nothing waits for
	overlay overlay // over the active window; nil is none
	prompt  *prompt // nil if no text is asked for
	message message // the status line's, until the next key
	history map[string][]string
}

// An overlay stands over the window, and takes all keys and the mouse.
type overlay interface {
	draw(canvas)
	key(name string)
	scroll(lines int)
}

// A clickable overlay takes clicks on cells of the screen; a click on another one ends it.
type clickable interface{ click(x, y int) }

// A message is one line for the person.
type message struct {
	text  string
	isErr bool
}

// newApp opens the summary window of a recording on a screen that is ready.
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

// initialized is a screen whose Init was called, which tview calls again and does not look at.
type initialized struct{ tcell.Screen }

func (initialized) Init() error { return nil }

// keepCtrlC makes Ctrl-C a key like others: at tview's own hands it would end the app.
func keepCtrlC(e *tcell.EventKey) *tcell.EventKey {
	if e.Key() != tcell.KeyCtrlC {
		return e
	}
	return tcell.NewEventKey(e.Key(), e.Rune(), e.Modifiers())
}

// changed has every window shown anew, after the recording, the options or the aspects have changed.
func (a *app) changed() {
	for _, w := range a.windows {
		w.refresh()
	}
}

// setSpan has every window count a span only; the zero Span is everything.
func (a *app) setSpan(s views.Span) {
	a.options.Span = s
	a.changed()
}

// post runs f in the event loop, and draws. It is for other goroutines, and doesn't wait for f.
func (a *app) post(f func()) {
	go a.tv.QueueUpdateDraw(f)
}

// guard hands a panic on to the event loop, which gives the terminal back before it ends the program.
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

// fail shows what went wrong until the next key.
func (a *app) fail(err error) { a.message = message{err.Error(), true} }

func (a *app) quit() { a.tv.Stop() }

func hits(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
