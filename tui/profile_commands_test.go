package tui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// commandTests has one or more lines for every command of a
// profile window and of the app.
var commandTests = map[string]struct {
	lines []string
	check func(*testing.T, *bench)
}{
	"down":       {[]string{":down * ..:MONITOR"}, shows("›0.800   120    ▾ ..:MONITOR", "0.800   120        "+terminals)},
	"extended":   {[]string{":extended *"}, shows("..bob.(*date).field")},
	"up":         {[]string{":up * | :RUN"}, shows("▾ ..bob.(*date).field", "›0.133    20        :RUN")},
	"follow":     {[]string{":follow sync.(*Mutex).Lock"}, shows("..sync.(*Mutex).Lock", ":MONITOR")},
	"prune":      {[]string{":prune not * ..:MONITOR"}, shows("pruned to not * ..:MO", "0.200    30  ▾ "+terminals)},
	"zoom":       {[]string{":zoom * ..:MONITOR"}, shows("›1.000   120      ..:MONITOR")},
	"auto":       {[]string{":auto 2"}, shows("▾ sync.(*Mutex).Lock")},
	"threshold":  {[]string{":threshold 10%"}, shows("15 hits (cost 0.100)", "1 hidden")},
	"aspect":     {[]string{":aspect dates bob.(*date).*", ":extended *"}, shows("0.133    20      ..@dates")},
	"accounting": {[]string{":accounting single"}, shows("7.5 s = 1.000  single")},
	"merge":      {[]string{":merge all go:bob.*"}, shows("no thread class")},
	"class":      {[]string{":class by site"}, shows("no thread class")},
	"created-by": {[]string{":created-by"}, shows("7.5 s = 1.000  :created-by")},
	"span":       {[]string{":span 0s 1s"}, shows("only 0s to 1s")},
	"list":       {[]string{":list late = time > 1"}, shows("The list late has ")},
	"samples":    {[]string{":samples time > 1"}, shows("⊂ time > 1: ")},
	"scatter":    {[]string{":scatter goroutines, time"}, shows("time (up) with goroutines (right)")},
	"calls":      {[]string{":calls bob.(*terminal).run"}, shows("3 Calls bob.(*terminal)", "5 calls")},
	"tracks":     {[]string{":tracks"}, shows("Thread classes")},
	"matrix":     {[]string{":matrix goroutines, time"}, shows("r above it")},
	"locks":      {[]string{":locks"}, shows("3 Locks")},
	"tree":       {[]string{":tree"}, shows("3 Tree", "Server View: ")},
	"why":        {[]string{":why"}, shows("3 Why")},
	"without":    {[]string{":without half of * ..:MONITOR"}, shows("Without half of * ..:MONITOR: ")},
	"help":       {[]string{":help"}, shows("Keys of this window")},
}

func TestEveryCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	var commands []command
	first := bobThread(t)
	first.do(func() { commands = first.allCommands(first.profile()) })
	elsewhere := map[string]bool{"write": true, "write!": true, "aspects": true, "merges": true, "quit": true, "against": true}
	for _, c := range commands {
		test, ok := commandTests[c.name]
		if !ok {
			if !elsewhere[c.name] {
				t.Errorf("there is no test for the command %s", c.name)
			}
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := bobThread(t)
			for _, l := range test.lines {
				b.line(l)
			}
			test.check(t, b)
		})
	}
}

// A word that is no command is not taken for a call path unless
// it is a name of the view.
func TestUnknownCommands(t *testing.T) {
	b := bobThread(t)
	for _, line := range []string{":spam", ":spam 1s", ":Threshold 10"} {
		b.line(line)
		b.shows("unknown command")
		b.keys("Esc", "Esc")
	}
	b.line(":main.worker")
	b.hides("unknown command")
	if !isUnknownWord("spam", []string{"main"}) || isUnknownWord("main", []string{"main"}) || isUnknownWord("main.f", nil) || isUnknownWord("*", nil) {
		t.Error("a name of a call path is taken for a command")
	}
}

// A rule for classes that has no effect says so.
func TestClassByALabelThatNobodyHas(t *testing.T) {
	b := bobThread(t)
	b.line(":class by label:nobody")
	b.shows("No goroutine has the label nobody: classes are by function.")
}

func TestQuitCommand(t *testing.T) {
	b := bobThread(t)
	b.typed(":quit")
	b.press("Enter")
	if !b.ends() {
		t.Error("the app is still running")
	}
}

// A typed call path becomes an entry, and is selected.
func TestTypedPath(t *testing.T) {
	b := bobThread(t)
	b.line(":* ..bob.(*manager).transact ..bob.(*date).field")
	chooses("..bob.(*date).field")(t, b)
	b.shows("▾ ..bob.(*manager).transact", "›0.133    20        ..bob.(*date).field")
	b.keys("U")
	b.hides("..bob.(*date).field")
	b.line(":..:MONITOR " + terminals + " ..:IO-wait")
	chooses("..:IO-wait")(t, b)
	b.keys("]", "]", "]", "]", "]", "]")
	b.line(":..bob.(*date).field")
	b.shows("is hidden by the threshold")
}

// A message says that all results of a split are hidden.
func TestHiddenSplit(t *testing.T) {
	b := bobThread(t)
	b.line(":threshold 149")
	b.line(":up * | :RUN")
	b.shows("Every caller is below the threshold")
}

// A mistake is shown at its position, and can be corrected.
func TestMistakesHaveACaret(t *testing.T) {
	b := bobThread(t)
	b.line(":prune * ..:RUN and (")
	b.shows("▼\n:prune * ..:RUN and (")
	x, _ := b.find("▼")
	if at := textWidth(":prune * ..:RUN and ("); x != at && x != at-1 {
		t.Errorf("the caret is in column %d:\n%s", x, b.text())
	}
	for range 5 {
		b.keys("Backspace")
	}
	b.hides("▼")
	b.keys("Enter")
	b.shows("pruned to * ..:RUN")
	b.line(":..bob.(*date).feild")
	b.shows("nothing found", "bob.(*date).field")
	for _, wrong := range []string{"threshold x", "accounting none", "class site", "class by x", "aspect", "aspect a re:(", "auto 0", "write", "aspects", "up *"} {
		b.line(":" + wrong)
		b.shows("\n:" + wrong)
		b.keys("Esc")
		b.hides("\n:")
	}
	b.keys("1")
	b.line(":nonsense")
	b.shows("unknown command")
}

// A command of another window is not unknown: the error says
// which window has it, and how to get there.
func TestCommandsOfOtherWindows(t *testing.T) {
	b := bobThread(t)
	title := ""
	b.do(func() { title = b.app.window().title() })
	b.line(":lanes usual")
	b.shows(`"lanes" is a command of window 1 (Esc, 1): Summary`)
	b.keys("Esc", "1")
	b.line(":lanes usual")
	b.hides("command")
	b.keys("Esc")
	b.line(":zoom *")
	b.shows(`"zoom" is a command of window 2 (Esc, 2): ` + title)
	b.keys("Esc", "2", "x", "L")
	b.line(":zoom *")
	b.shows(`"zoom" is a command of a Thread View, or the Server View (Esc, 1, Enter or s)`)
}

// Whatever window is open, it knows where the commands of all
// kinds of windows belong.
func TestCommandsOfAllWindows(t *testing.T) {
	summary := newBench(t, bob(t))
	eachWindow(t, func(t *testing.T, b *bench) {
		var own, known []command
		b.do(func() { own = b.app.window().commands() })
		summary.do(func() {
			known = summary.allCommands(summary.app.window())
			line := commandLine{summary.app, summary.app.window()}
			for _, c := range own {
				if slices.ContainsFunc(known, func(k command) bool { return k.name == c.name }) {
					continue
				}
				if err := line.elsewhere(c.name); strings.Contains(err.Error(), "unknown") {
					t.Errorf("%s: %v", c.name, err)
				}
			}
		})
	})
}

func TestCompletion(t *testing.T) {
	b := bobThread(t)
	for _, c := range []struct{ typed, want string }{
		{":thr", ":threshold "},
		{":acc", ":accounting "},
		{":accounting pro", ":accounting processors"},
		{":class by l", ":class by label:"},
		{":prune * ..:M", ":prune * ..:MONITOR"},
		{":prune not (* ..bob.(*d", ":prune not (* ..bob.(*date).field"},
		{":* ..@sq", ":* ..@sql"},
		{":go:bob", ":" + terminals},
		{":* ..field", ":* ..bob.(*date).field"},
		{":* ..nobody", ":* ..nobody"},
	} {
		b.typed(c.typed)
		b.keys("Tab")
		b.shows("\n" + strings.TrimSpace(c.want) + "\n")
		b.keys("Esc")
	}
	b.typed(":..bob.(*man")
	b.keys("Tab")
	b.shows("\n:..bob.(*manager).\n", "\n..bob.(*manager).stamp\n")
	b.keys("Tab", "Tab")
	b.shows("\n:..bob.(*manager).store\n")
	b.keys("Backtab")
	b.shows("\n:..bob.(*manager).stamp\n")
	b.keys("Enter")
	chooses("..bob.(*manager).stamp")(t, b)
}

// The written file equals the output of 'cpprof report' for the
// same steps, and agrees with the screen.
func TestWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	b := bobThread(t)
	b.line(":write profile.txt")
	b.shows("Written: profile.txt")
	text, err := os.ReadFile("profile.txt")
	fixture.Check(t, err)
	var want strings.Builder
	b.do(func() {
		p := report.Profile{Session: b.profile().session, Title: "Thread View of " + terminals + " (observed accounting)"}
		p.Write(&want)
	})
	if err != nil || string(text) != want.String() {
		t.Errorf("%v; the file is\n%swant\n%s", err, text, want.String())
	}
	_, entries, _ := strings.Cut(string(text), "call path\n")
	for line := range strings.Lines(entries) {
		fields := strings.Fields(line)
		found := false
		for shown := range strings.Lines(b.text()) {
			found = found || strings.Join(strings.Fields(strings.NewReplacer("▾", "", "›", " ").Replace(shown))[1:], " ") == strings.Join(fields, " ")
		}
		if !found {
			t.Errorf("the screen does not show %q:\n%s", line, b.text())
		}
	}
	b.line(":write profile.txt")
	b.shows("exists already: write! replaces it")
	b.keys("Esc")
	b.line(":write! profile.txt")
	b.shows("Written: profile.txt")
	b.line(":write profile.json")
	data, err := os.ReadFile("profile.json")
	if err != nil || !json.Valid(data) {
		t.Errorf("%v: %s", err, data)
	}
	b.line(":write nowhere/profile.txt")
	b.shows("nowhere/profile.txt")
}

func TestAspectsAreSaved(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	b := bobThread(t)
	b.line(":aspects save")
	b.shows("no aspect was defined here")
	b.keys("Esc")
	b.line(":aspect dates bob.(*date).*")
	b.line(":aspects save")
	b.shows("Saved in " + filepath.Join(folder, "cpprof.yaml")[:20])
	data, err := os.ReadFile("cpprof.yaml")
	if err != nil || !strings.Contains(string(data), "bob.(*date).*") {
		t.Errorf("%v: %s", err, data)
	}
	b.line(":aspects save")
	b.shows("no aspect was defined here")
}

func TestPrompt(t *testing.T) {
	b := bobThread(t)
	b.typed(":abcd")
	b.keys("Left", "Left", "X", "Home", "Y", "End", "Z", "Delete", "Right")
	b.shows("\n:YabXcdZ\n")
	b.keys("Ctrl-A", "Ctrl-D", "Ctrl-F", "Backspace", "Ctrl-E", "Ctrl-B", "Ctrl-H")
	b.shows("\n:bXcZ\n")
	b.keys("Ctrl-E", "Space", "ä", "ß", "Ctrl-W")
	b.shows("\n:bXcZ\n")
	b.keys("Ctrl-U")
	b.shows("\n:\n")
	b.keys("Enter")
	b.hides("\n:")
	b.line(":threshold 20")
	b.line(":threshold 10")
	b.keys(":", "Up")
	b.shows("\n:threshold 10\n")
	b.keys("Up", "Up", "Ctrl-P")
	b.shows("\n:threshold 20\n")
	b.keys("Down", "Ctrl-N", "Ctrl-C")
	b.hides("\n:")
	b.typed(":" + strings.Repeat("long ", 40) + "end")
	b.shows("long end\n")
	b.keys("Esc")
}

// Pasted text goes only into a prompt; its characters never act as keys.
func TestPaste(t *testing.T) {
	b := bobThread(t)
	before := b.text()
	paste := func(text string) {
		b.event(tcell.NewEventPaste(true))
		for _, r := range text {
			b.event(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
		}
		b.event(tcell.NewEventPaste(false))
		b.press("F12")
		b.waitForJobs()
	}
	paste("dxq")
	if b.text() != before {
		t.Errorf("pasted text was read as keys:\n%s", b.text())
	}
	b.keys(":")
	paste("threshold 20")
	b.shows("\n:threshold 20\n")
}

// The windows follow the span; entries that are missing in it
// are back with the whole recording.
func TestSpan(t *testing.T) {
	b := bobThread(t, refine.Step{Kind: refine.KindExtended, Text: "* ..os.(*File).Write"}, refine.Step{Kind: refine.KindDown, Text: "*"})
	b.shows("..os.(*File).Write", ":IO-wait")
	sample := b.recording.Samples.Time(0)
	b.do(func() { b.setSpan(views.Span{From: sample, To: b.recording.Samples.Time(1)}) })
	b.waitForJobs()
	b.hides(":IO-wait")
	b.shows("only "+sample.String(), "250.00 ms = 1.000")
	b.do(func() { b.setSpan(views.Span{}) })
	b.waitForJobs()
	b.shows("..os.(*File).Write", ":IO-wait", "7.5 s = 1.000")
	b.hides("only")
}
