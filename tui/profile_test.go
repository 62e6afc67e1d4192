package tui

import (
	"testing"

	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/tui/session"
)

const terminals = "go:bob.(*terminal).run"

// bobThread opens the Thread View of the BOB case's terminals,
// refined to this:
//
//	1.000  go:bob.(*terminal).run
//	1.000    bob.(*terminal).run
//	1.000      bob.(*manager).transact
//	0.800        sync.(*Mutex).Lock
//	0.133        bob.(*manager).stamp
//	0.067        bob.(*manager).store
//	0.800    ..:MONITOR
func bobThread(t testing.TB, steps ...refine.Step) *bench {
	t.Helper()
	if len(steps) == 0 {
		steps = []refine.Step{
			{Kind: refine.KindDown, Text: "*"},
			{Kind: refine.KindFollow, Text: "* bob.(*terminal).run"},
			{Kind: refine.KindPath, Text: "* ..:MONITOR"},
		}
	}
	o := bob(t)
	limit := refine.Threshold{Hits: hits(refine.DefaultMinHits)}
	o.Windows = []session.Window{&session.Profile{Class: terminals, Steps: steps, Threshold: limit}}
	b := newBench(t, o)
	b.waitForJobs()
	return b
}

// profile returns the active window.
func (b *bench) profile() *profileWindow { return b.app.window().(*profileWindow) }

// chosen returns the label of the selected entry.
func (b *bench) chosen() (label string) {
	b.t.Helper()
	b.do(func() { label = b.profile().entries.entry().Label() })
	return label
}

// A keyTest describes the effect of a key in a profile window.
type keyTest struct {
	keys   []string // pressed before
	unseen bool     // the screen is the same until the next key
	check  func(t *testing.T, b *bench)
}

func chooses(label string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		t.Helper()
		if got := b.chosen(); got != label {
			t.Errorf("%q is selected, want %q\n%s", got, label, b.text())
		}
	}
}

func shows(texts ...string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) { t.Helper(); b.shows(texts...) }
}

func hides(texts ...string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) { t.Helper(); b.hides(texts...) }
}

// profileKeys has a test for every binding of a profile window,
// by its first key.
var profileKeys = map[string]keyTest{
	"d":      {keys: []string{"G"}, check: shows("▾ ..:MONITOR", " 0.800   120        "+terminals)},
	"e":      {check: shows(" 0.133    20      ..bob.(*date).field", " 0.800   120      ..sync.(*Mutex).Lock")},
	"u":      {keys: []string{"G"}, check: shows(" 0.800   120    ▾ ..sync.(*Mutex).Lock", "›0.800   120        :MONITOR")},
	"Enter":  {keys: []string{"j", "j", "j"}, check: chooses("bob.(*manager).stamp")},
	"p":      {keys: []string{"G"}, check: shows("Prune ..:MONITOR", "only it", "away", "Esc  neither")},
	"v":      {keys: []string{"G"}, check: shows(terminals+" ..:MONITOR", "cost 0.800 = 6.0 s of 7.5 s", "hits 120 of 150, 95 %", "the view counts 30 samples")},
	"E":      {keys: []string{"G"}, check: shows("is no function with a source")},
	"U":      {check: hides(":MONITOR")},
	"a":      {check: shows("0.533", "    ▾ bob.(*date).field", ":IO-wait")},
	"R":      {keys: []string{"U", "U"}, check: shows("▾ bob.(*terminal).run")},
	"z":      {keys: []string{"G"}, check: shows("›1.000   120      ..:MONITOR")},
	"s":      {check: shows("hits    own", "›1.000   150  0.000  ▾ "+terminals)},
	"o":      {check: shows("hits    own", "›1.000   150  0.000  ▾ "+terminals)},
	"%":      {keys: []string{"G"}, check: shows("parent  hits")},
	"f":      {check: shows("\nfilter:")},
	"Esc":    {keys: []string{"f", "s", "t", "a", "m", "p", "Enter"}, check: shows("bob.(*manager).store", "..:MONITOR")},
	"t":      {check: shows(" RUN LOAD PRIO  MON WAIT", "  .13            .80  .07  ▾ "+terminals)},
	"i":      {check: shows("      ±", " 0.800   120 ±0.079")},
	"m":      {keys: []string{"j", "j", "j"}, check: shows("0.800  ▾ "+terminals, "0.000          bob.(*manager).stamp", "0.800          ◆ sync.(*Mutex).Lock", "0.800      ..:MONITOR")},
	"[":      {keys: []string{"]", "]"}, check: shows(" 15 hits (cost 0.100)", "1 hidden", "0.133")},
	"]":      {keys: []string{"]"}, check: shows(" 20 hits (cost 0.133)", "1 hidden", "▾ bob.(*manager).transact +1")},
	"j":      {check: chooses("bob.(*terminal).run")},
	"k":      {keys: []string{"j", "j"}, check: chooses("bob.(*terminal).run")},
	"l":      {keys: []string{"j"}, check: chooses("bob.(*manager).transact")},
	"h":      {keys: []string{"j"}, check: shows("▸ bob.(*terminal).run")},
	"Space":  {keys: []string{"j"}, check: shows("▸ bob.(*terminal).run")},
	"g":      {keys: []string{"G"}, check: chooses(terminals)},
	"G":      {check: chooses("..:MONITOR")},
	"PgDn":   {check: chooses("..:MONITOR")},
	"PgUp":   {keys: []string{"G"}, check: chooses(terminals)},
	"Ctrl-D": {check: chooses("..:MONITOR")},
	"Ctrl-U": {keys: []string{"G"}, check: chooses(terminals)},
	"<":      {keys: []string{">", ">", ">", ">", ">", ">", ">"}, check: shows("sync.(*Mutex).Lock")},
	">":      {keys: []string{">", ">", ">", ">", ">", ">"}, check: hides("sync.(*Mutex).Lock")},
	"J":      {keys: []string{"j", "v"}, check: shows("▲1 ▼0")},
	"K":      {keys: []string{"j", "v", "J"}, check: shows("▲0 ▼1")},
	"/":      {check: shows("/")},
	"n":      {keys: []string{"/", "M", "O", "Enter", "k"}, check: chooses("..:MONITOR")},
	"N":      {keys: []string{"/", "o", "b", "Enter"}, check: chooses(terminals)},
	"y":      {keys: []string{"G"}, check: copies(terminals + " ..:MONITOR")},
}

func copies(text string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		t.Helper()
		var got string
		b.do(func() { got = string(b.sim.GetClipboardData()) })
		if got != text {
			t.Errorf("the clipboard has %q, want %q", got, text)
		}
	}
}

// The five clicks of the paper (CPPROFJ, section 6.2): class,
// run, the transaction, :MONITOR, class, the holder's function.
func TestFiveClicksOfTheBOBCase(t *testing.T) {
	b := newBench(t, bob(t))
	b.click("bob.(*terminal).run")
	b.keys("Enter")
	for _, c := range []struct{ entry, button string }{
		{" " + terminals, "Down"},
		{"  bob.(*terminal).run", "Down"},
		{"bob.(*manager).transact", "Extend"},
		{"..:MONITOR", "Down"},
		{"      " + terminals, "Extend"},
	} {
		b.click(c.entry)
		b.click(c.button)
	}
	b.shows(
		"1.000   150  ▾ "+terminals+"\n",
		"1.000   150    ▾ bob.(*terminal).run\n",
		"1.000   150      ▾ bob.(*manager).transact\n",
		"0.800   120        ▾ ..:MONITOR\n",
		"0.800   120          ▾ "+terminals+"\n",
		"0.533    80              ..bob.(*date).field\n",
	)
}

// Labels cover a stack once; if no entry is labelled, the column
// is hidden.
func TestLabels(t *testing.T) {
	b := bobThread(t)
	b.keys("G", "m", "k", "m")
	b.shows("0.867  ▾ "+terminals, "0.800          sync.(*Mutex).Lock", "0.067          ◆ bob.(*manager).store", "0.000          bob.(*manager).stamp")
	b.keys("m", "G", "m")
	b.hides("label", "◆")
}
