package tui

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// Options are the recording to show and the settings of the Analyzer.
type Options struct {
	Path      string // of the recording
	Recording *sampledata.Recording
	Config    *config.Config
	Views     views.Options
	Threshold refine.Threshold // the first threshold of every profile window
	// the number of levels that are open in a new profile
	// window, below the root
	Levels   int
	NoColor  bool
	Editor   string // the command that shows source; "" is $VISUAL or $EDITOR
	Greeting string // the first message; "" is none

	// Session is the state of the last Analyzer on this
	// recording; nil if there is none.
	Session *session.State

	// Samples is the sample list that counts, unless a session
	// has another one; "" for all samples.
	Samples string

	// Windows are opened at the start, the last one in front,
	// after the summary and the session's windows. If there is a
	// comparison, they compare.
	Windows []session.Window

	// Findings opens the window of what is slow at the start, in
	// front. If nothing is, it closes again.
	Findings bool

	// Live makes the recording grow; it is nil if the recording
	// is complete.
	Live *Live

	// Against is compared with the recording from the start; nil
	// if there is no comparison.
	Against *Against

	// Keep is called at the end, whatever the cause, with the
	// state to keep in the session; it may be nil.
	Keep func(*session.State)

	// Screen is the screen to draw on; nil is the terminal.
	Screen tcell.Screen
}

// Against is another recording.
type Against struct {
	Path      string
	Recording *sampledata.Recording
}

// ErrStuck says that the terminal took no more output when the
// Analyzer was to end. A message on it would wait, too.
var ErrStuck = errors.New("the terminal takes no output")

// Run shows the Analyzer until the user leaves it, the terminal
// fails, or ctx is done. If ctx is done, Run returns its cause,
// or ErrStuck.
func Run(ctx context.Context, o Options) error {
	t, err := openTerminal(o.Screen)
	if err != nil {
		return fmt.Errorf("opening the terminal: %w", err)
	}
	defer t.end()
	defer context.AfterFunc(ctx, t.abortSoon)()
	a := newApp(o, t)
	if o.Live != nil {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go a.live.watch(ctx)
	}
	err = a.run(ctx)
	if o.Keep != nil {
		o.Keep(a.state())
	}
	t.end()
	if t.stuck() {
		return ErrStuck
	}
	return err
}

// An app is a recording and its windows.
type app struct {
	path      string
	recording *sampledata.Recording // the samples that count
	whole     *sampledata.Recording // all samples
	counts    counted               // which samples count
	metrics   *measured             // nil until it is first needed
	config    *config.Config
	given     config.Config // without what was defined in the Analyzer
	options   views.Options
	threshold refine.Threshold
	levels    int
	editor    string          // a command; "" is $VISUAL or $EDITOR
	others    *session.Others // recordings that are compared with this one
	// the path of the one with which the Summary compares this
	// one; "" for none
	against string
	live    *growth // nil if the recording is complete

	theme        *theme
	terminal     *terminal
	screen       tcell.Screen // of the terminal
	root         *root
	posts        *posts // of other goroutines
	left         bool   // the user has left the Analyzer
	failure      error  // ends the loop
	windows      []window
	active       int
	jobs         map[window]*job
	inBackground int     // number of running background calls
	overlay      overlay // over the active window; nil is none
	prompt       *prompt // nil if no text is asked for
	message      message // the status line's, until the next key
	history      map[string][]string
}

// An overlay covers the window, and takes all keys and the
// mouse, with the coordinates of the screen.
type overlay interface {
	draw(canvas)
	key(name string)
	scroll(lines int)
	click(x, y int)
}

// A message is one line for the user.
type message struct {
	text  string
	isErr bool
}

// newApp opens the summary window of a recording on a terminal.
func newApp(o Options, t *terminal) *app {
	a := &app{
		path: o.Path, recording: o.Recording, whole: o.Recording, config: o.Config,
		given: *o.Config, options: o.Views, threshold: o.Threshold, levels: o.Levels,
		editor: o.Editor,
		theme:  newTheme(t.Colors(), o.NoColor), terminal: t, screen: t.Screen,
		posts: &posts{ready: make(chan struct{}, 1)}, jobs: make(map[window]*job),
		history: make(map[string][]string), others: session.NewOthers(interchange.ReadRecording),
	}
	if o.Live != nil {
		a.live = &growth{Live: *o.Live, a: a}
	}
	t.EnableMouse()
	t.EnablePaste()
	a.root = newRoot(a)
	if o.Against != nil {
		a.others.Add(o.Against.Path, o.Against.Recording)
		a.against = o.Against.Path
	}
	a.restore(o.Session, o.Samples)
	for _, w := range o.Windows {
		if p, isView := w.(*session.Profile); isView {
			openView(a, *p)
		} else {
			a.reopen(w)
		}
	}
	if o.Findings {
		openFindings(a, false)
	}
	if o.Greeting != "" {
		a.say("%s", o.Greeting)
	}
	return a
}

// changed refreshes every window after a change of the
// recording, the options or the aspects.
func (a *app) changed() {
	a.countAgain()
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

// toggleCreatedBy charges goroutines to those who started them in every window,
// or each to its own class.
func (a *app) toggleCreatedBy(string) error {
	if err := views.CheckCreators(a.recording); err != nil {
		return err
	}
	a.options.CreatedBy = !a.options.CreatedBy
	a.changed()
	if a.options.CreatedBy {
		a.say("Goroutines are charged to those who started them, so that classes overlap: :created-by again undoes it.")
		return nil
	}
	a.say("Each goroutine is charged to its own class.")
	return nil
}

// setConfig changes the configuration in every window.
func (a *app) setConfig(change func(*config.Config)) {
	c := *a.config
	change(&c)
	a.config = &c
	a.options = c.Configure(a.options)
	a.changed()
}

// setSpan restricts every window to a span; the zero Span is the
// whole recording.
func (a *app) setSpan(s views.Span) {
	a.options.Span = s
	a.changed()
}

// guard passes a panic to the event loop, which restores the
// terminal before it ends the program.
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

func (a *app) quit() { a.left = true }

func hits(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
