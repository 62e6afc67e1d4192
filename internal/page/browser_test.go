package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// patience is how long a browser may take for a step: long
// enough for a busy machine.
const patience = 2 * time.Minute

// A tab is a page in a browser.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	complain []string // what the browser complained about
}

// errNoBrowser says what to do if there is no browser.
var errNoBrowser = errors.New("there is no Chromium to show the page in: install the package chromium")

// browser starts a browser without a window, for all tests: to
// start one takes a second of CPU time.
var browser = sync.OnceValues(func() (context.Context, error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoBrowser
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1400, 900),
		chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), o...)
	stopBrowser = stop
	ctx, _ = chromedp.NewContext(ctx) // ends with the browser
	return ctx, chromedp.Do(ctx)
})

// stopBrowser ends the browser, if there is one.
var stopBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

// newTab opens a tab, with a profile of its own. Without a
// browser, it skips the test.
func newTab(t testing.TB) *tab {
	t.Helper()
	in, err := browser()
	if errors.Is(err, errNoBrowser) {
		t.Skip(err)
	}
	fixture.Check(t, err)
	ctx, cancel := chromedp.NewContext(in, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{TB: t, ctx: ctx}
	err = chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complain = append(b.complain, fmt.Sprintf("%s, line %d: %+v", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber, e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			b.complain = append(b.complain, fmt.Sprintf("console: %v", e.Type))
		case *log.EventEntryAdded:
			b.complain = append(b.complain, e.Entry.Text)
		}
	})
	fixture.Check(t, err)
	b.do(call(log.Enable, cdp.Empty{}))
	return b
}

// call returns the action that sends a command to the browser.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// do runs actions in the tab.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatalf("%v (the browser complained: %q)", err, b.complain)
	}
}

// js returns the value of an expression.
func js[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v (the browser complained: %q)", expression, err, b.complain)
	}
	return value
}

// run runs a script.
func (b *tab) run(script string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script))
}

// key presses a key.
func (b *tab) key(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// open shows a page, and waits until it is loaded.
func (b *tab) open(p *Page) {
	b.Helper()
	var html bytes.Buffer
	fixture.Check(b, Write(&html, p))
	file := filepath.Join(b.TempDir(), "page.html")
	fixture.Check(b, os.WriteFile(file, html.Bytes(), 0o600))
	b.do(chromedp.Navigate("file://"+filepath.ToSlash(file)), chromedp.WaitReady("html[data-ready=yes]"))
}

// calm fails the test if the browser complained, as about an
// exception or a breach of the page's policy.
func (b *tab) calm() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complain) > 0 {
		b.Errorf("the browser complains: %q", b.complain)
	}
}

// settled waits until what was chosen is drawn.
func (b *tab) settled() {
	b.Helper()
	js[bool](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.Helper()
	js[bool](b, "new Promise((done) => { const look = () => ("+expression+") ? done(true) : setTimeout(look, 20); look(); })")
}

// picture saves what the tab shows, if CPPROF_PICTURES names a folder.
func (b *tab) picture(name string) {
	b.Helper()
	folder := os.Getenv("CPPROF_PICTURES")
	if folder == "" {
		return
	}
	b.settled()
	png := fixture.Must(chromedp.Run(b.ctx, chromedp.CaptureScreenshot()))(b)
	fixture.Check(b, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600))
}

// synthesized returns a page of a small server.
func synthesized(samples, goroutines int, share float64) *Page {
	return pageOf("server.cpprof", synthetic.Recording(samples, goroutines, share))
}

// pageOf returns the page of a recording, with the options that
// the commands have by default.
func pageOf(name string, r *sampledata.Recording) *Page {
	c := config.Default()
	return &Page{Name: name, Recording: r, Options: c.Configure(views.Options{LeaveOutIdle: true}), Config: c}
}

// figures are the numbers of one stack in a page or a view: its
// exact weight and hits, and its cost.
type figures [3]string

// figuresOf returns the figures of each stack of a view. Keys
// are the frames below the root.
func figuresOf(t *calltree.Tree) map[string]figures {
	m, all := t.Main(), make(map[string]figures)
	for n := range int32(t.Len()) {
		total := m.Through(n)
		if total.Weight.Sign() == 0 && total.Hits.Sign() == 0 {
			continue
		}
		cost := m.Cost(total.Weight)
		all[strings.Join(t.Frames(n)[1:], "\n")] = figures{total.Weight.RatString(), total.Hits.RatString(), decimal(cost)}
	}
	return all
}

func decimal(x *big.Rat) string { return x.FloatString(3) }

// shownFigures returns the figures of each stack of the page's current view.
const shownFigures = `(() => {
	const v = cpprof.current, t = v.tree, all = {};
	for (let n = v.top; n < t.end[v.top]; n++) {
		const e = v.exact([n]);
		if (e.weight.num || e.hits.num) all[v.path(n).join('\n')] = [String(e.weight), String(e.hits), e.cost.decimal(3)];
	}
	return all;
})()`

// sameFigures compares the view that the page shows with one of
// package views.
func (b *tab) sameFigures(what string, v *views.View) {
	b.Helper()
	got, want := js[map[string]figures](b, shownFigures), figuresOf(v.Tree)
	if len(got) != len(want) || len(want) == 0 {
		b.Errorf("%s: the page has %d stacks, the view %d", what, len(got), len(want))
	}
	for k, w := range want {
		if got[k] != w {
			b.Errorf("%s: %q: the page says %v, the view %v", what, k, got[k], w)
			return
		}
	}
}

// The page says of every stack what the views say, also of a
// span, and if samples are taken together.
func TestFiguresLong(t *testing.T) {
	fixture.Long(t)
	b := newTab(t)
	for _, most := range []int{0, 120_000} {
		p := synthesized(400, 30, 0.1)
		if most > 0 {
			p = synthesized(8000, 20, 0.5)
		}
		p.MaxMoments = most
		b.open(p)
		if each := js[int32](b, "cpprof.header.each"); (each > 1) != (most > 0) {
			t.Fatalf("%d samples are taken together, with a limit of %d", each, most)
		}
		n := js[int](b, "cpprof.end")
		t.Logf("%d slices of %d samples", n, js[int](b, "cpprof.header.each"))
		if n < 4 {
			t.Fatalf("%d slices are too few for this test", n)
		}
		for _, span := range [][2]int{{0, n}, {n / 10, n / 3}, {n / 2, n/2 + 1}} {
			o := p.Options
			if span[1] < n {
				slices := js[[]int64](b, fmt.Sprintf("[cpprof.clock.at[%d], cpprof.clock.at[%d]]", span[0], span[1]))
				o.Span = views.Span{From: time.Duration(slices[0]), To: time.Duration(slices[1])}
				b.run(fmt.Sprintf("cpprof.select([%d, %d])", span[0], span[1]))
				b.settled()
			}
			v := fixture.Must(views.Server(p.Recording, o))(t)
			b.run("cpprof.openView('*')")
			b.sameFigures(fmt.Sprintf("Server View of %v", span), v)
			for _, class := range []string{"go:main.worker3", "go:main.worker11"} {
				v, err := views.Thread(p.Recording, class, o)
				var none *views.UnknownClassError
				switch {
				case errors.As(err, &none) && span[1]-span[0] < n:
					continue // no goroutine of the class was there in the span
				case err != nil:
					t.Fatal(err)
				}
				b.run(fmt.Sprintf("cpprof.openView(%q)", class))
				b.sameFigures(fmt.Sprintf("%s, %v", class, span), v)
			}
		}
	}
	b.calm()
}

// The table of the classes has what 'cpprof classes' has.
func TestClassesTable(t *testing.T) {
	b := newTab(t)
	p := synthesized(300, 30, 0.1)
	b.open(p)
	classes := fixture.Must(views.Classes(p.Recording, p.Options))(t)
	got := js[map[string][]string](b, `Object.fromEntries(cpprof.header.views.map((v, i) => [v.name, i]).filter(([name]) => name && name !== '*').map(([name, i]) =>
		[name, cpprof.view(i).typedParts().flatMap((p) => [String(p.weight), String(p.hits)])]))`)
	if len(got) != len(classes) {
		t.Errorf("%d classes, want %d", len(got), len(classes))
	}
	for _, c := range classes {
		var want []string
		for k := range views.NumTypedTimes {
			want = append(want, c.Parts[k].RatString(), c.HitParts[k].RatString())
		}
		if fmt.Sprint(got[c.Class]) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", c.Class, got[c.Class], want)
		}
	}
	b.calm()
}

// A person zooms, searches, looks for callers, and selects a
// span, by mouse and by keys.
func TestUse(t *testing.T) {
	b := newTab(t)
	b.open(synthesized(1500, 40, 0.05))
	b.picture("light")
	const axis = `(() => { const canvas = CanvasRenderingContext2D.prototype, {fillText} = canvas, said = [];
		canvas.fillText = (text) => said.push(text); cpprof.heat.draw(); canvas.fillText = fillText; return said; })()`
	if times := strings.Join(js[[]string](b, axis), ", "); times != "2.00 s, 4.00 s, 6.00 s, 8.00 s, 10.00 s, 12.00 s, 14.00 s" {
		t.Errorf("the timeline has the times %s", times)
	}
	text := func(id string) string {
		return js[string](b, fmt.Sprintf("document.getElementById(%q).textContent", id))
	}
	whole := text("numbers")

	b.run("cpprof.openView('go:main.worker3')")
	b.do(chromedp.MouseClickXY(js[float64](b, "document.getElementById('graph').getBoundingClientRect().x + 60"), js[float64](b, "document.getElementById('graph').getBoundingClientRect().y + 50")))
	if focus := js[int](b, "cpprof.graph.focus - cpprof.current.top"); focus <= 0 {
		t.Errorf("a click zooms to node %d", focus)
	}
	zoomed := text("name")
	if zoomed == "" || zoomed == "go:main.worker3" {
		t.Errorf("zoomed to %q", zoomed)
	}
	b.key("c")
	if !js[bool](b, "cpprof.graph.calls !== cpprof.calls") || text("name") != zoomed {
		t.Errorf("the callers of %q are those of %q", zoomed, text("name"))
	}
	b.picture("callers")
	b.do(chromedp.KeyEvent("v"), chromedp.KeyEvent("0"))
	if js[int](b, "cpprof.graph.focus - cpprof.current.top") != 0 {
		t.Error("0 does not zoom out")
	}
	b.run("document.getElementById('search').focus()") // "/" does it, but the browser's protocol also types it there
	b.key("pkg1")
	if found := text("found"); !strings.HasPrefix(found, "matched 0.") {
		t.Errorf("found %q", found)
	}
	b.picture("search")
	b.key("\u001b")
	if found := text("found"); found != "" {
		t.Errorf("after Escape, found %q", found)
	}
	b.drag()
	if span := text("span"); strings.HasPrefix(span, "all") || text("numbers") == whole {
		t.Errorf("the selected span is %q, with %q", span, text("numbers"))
	}
	b.key("2")
	b.picture("span")
	b.do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}))
	b.settled()
	if theme := js[string](b, "document.documentElement.dataset.theme"); theme != "dark" {
		t.Errorf("the theme is %q in a dark system", theme)
	}
	for i, table := range []string{"findings", "classes", "functions", "locks", "metrics", "about"} {
		b.key(fmt.Sprint(i + 1))
		b.picture("dark-" + table)
	}
	b.key("a")
	b.settled()
	if span := text("span"); span != "all 1500 samples" {
		t.Errorf("the span is %q", span)
	}
	b.calm()
}

// A reload shows what the URL says: the view, the call, the span
// and the table.
func TestReload(t *testing.T) {
	b := newTab(t)
	b.open(synthesized(1500, 40, 0.05))
	shown := func() string {
		b.settled()
		return js[string](b, "[cpprof.current.name, document.getElementById('name').textContent, document.getElementById('span').textContent, cpprof.tab].join(', ')")
	}
	b.run("cpprof.openView('go:main.worker3')")
	b.do(chromedp.MouseClickXY(js[float64](b, "document.getElementById('graph').getBoundingClientRect().x + 60"), js[float64](b, "document.getElementById('graph').getBoundingClientRect().y + 50")))
	b.drag()
	b.key("3")
	before := shown()
	js[bool](b, "new Promise((done) => { const look = () => /span=.*tab=functions/.test(location.hash) ? done(true) : setTimeout(look, 20); look(); })")
	b.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready=yes]"))
	if after := shown(); after != before || !strings.HasPrefix(after, "go:main.worker3, ") {
		t.Errorf("shown is %q, want %q", after, before)
	}
	b.calm()
}

// A reload shows a call whose path is too long for the URL, and
// what controls say. A search that is too long is not kept: the
// page says so.
func TestReloadDeep(t *testing.T) {
	b := newTab(t)
	long := strings.Repeat("long/", 30)
	tree := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", views.Nanoseconds)
	at := int32(0)
	for i := range 40 {
		at = tree.Child(at, tree.Symbols().Intern(fmt.Sprintf("example.com/%s.f%d", long, i)))
		tree.Add(0, at, 5, 1)
		tree.Add(0, tree.Child(at, tree.Symbols().Intern("main.other")), 3, 1)
	}
	p := synthesized(2, 2, 1)
	p.Tree = fixture.Must(tree.Tree())(t)
	b.open(p)
	b.run("cpprof.zoom(cpprof.graph.calls.tree.depth.indexOf(36)); document.getElementById('upwards').click()")
	kept := func(pattern string) {
		js[bool](b, "new Promise((done) => { const look = () => /"+pattern+"/.test(location.hash) ? done(true) : setTimeout(look, 20); look(); })")
	}
	kept("at=.*|flames=1.*at=")
	const shown = "[cpprof.graph.focus, cpprof.graph.upwards, location.hash.length < 2000].join()"
	before := js[string](b, shown)
	b.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready=yes]"))
	if after := js[string](b, shown); after != before || !strings.HasSuffix(after, ",true,true") || strings.HasPrefix(after, "0,") {
		t.Errorf("shown is %s, want %s", after, before)
	}
	const unkept = "!document.getElementById('unkept').hidden"
	if js[bool](b, unkept) {
		t.Error("the page warns of a URL that fits")
	}
	b.run("document.getElementById('search').value = 'x'.repeat(2100); cpprof.search()")
	if !js[bool](b, unkept) {
		t.Error("the page does not say that the URL lacks the search")
	}
	b.calm()
}

// Names in narrow boxes keep their end, which is the function.
func TestShorterNames(t *testing.T) {
	b := newTab(t)
	b.open(synthesized(50, 5, 0.2))
	for name, want := range map[string]string{
		"net/http.(*conn).serve":              "http.(*conn).serve (*conn).serve …onn).serve",
		"example.com/a/b.Map[go.shape.int].F": "b.Map[go.shape.int].F b.Map[…].F Map[…].F …p[…].F",
		"go:net/http.(*Server).Serve":         "go:http.(*Server).Serve go:(*Server).Serve …",
		":MONITOR":                            ":MONITOR :MON… :M…",
		"main.f":                              "main.f f",
	} {
		got := js[[]string](b, fmt.Sprintf("[...cpprof.graph.constructor.shorter(%q)]", name))
		at := 0
		for _, part := range strings.Fields(want) {
			for at < len(got) && !strings.HasPrefix(got[at], part) {
				at++
			}
			if at == len(got) {
				t.Errorf("%s: %q has no %q in its place", name, got, part)
				break
			}
		}
	}
	b.calm()
}

// A page of a comparison says what is compared, and how the
// selected call and the functions differ, as the two views do.
func TestComparisonInBrowser(t *testing.T) {
	p := pageOf("new.cpprof", synthetic.Recording(300, 20, 0.2))
	p.Against, p.Open = views.Named{Name: "old.cpprof", Recording: synthetic.Recording(200, 30, 0.1)}, calltree.RootName
	b := newTab(t)
	b.open(p)
	var trees [2]*calltree.Tree
	for i, r := range []*sampledata.Recording{p.Recording, p.Against.Recording} {
		v := fixture.Must(views.Server(r, p.Options))(t)
		trees[i] = v.Tree
	}
	cost := func(side int, name string) *big.Rat { // with calls
		for _, r := range report.XProf(trees[side], report.XOptions{Metrics: []int{0}}) {
			if r.Name == name {
				return trees[side].Main().Cost(r.Weights[0].Cum.Exact())
			}
		}
		return new(big.Rat)
	}
	differs := func(name string) string { return report.Signed(new(big.Rat).Sub(cost(0, name), cost(1, name))) }
	text := func(id string) string {
		return js[string](b, fmt.Sprintf("document.getElementById(%q).textContent", id))
	}
	if !strings.HasSuffix(text("title"), "; compared with old.cpprof") || !strings.HasSuffix(text("numbers"), "difference "+differs(calltree.RootName)) {
		t.Errorf("%q: %q, want %s", text("title"), text("numbers"), differs(calltree.RootName))
	}
	b.run("cpprof.openTab('functions')")
	rows := js[[][]string](b, "[...document.querySelectorAll('table[aria-label=functions] tbody tr')].map((r) => [...r.children].map((c) => c.textContent))")
	if len(rows) < 5 {
		t.Fatalf("functions %v", rows)
	}
	for _, row := range rows {
		if got, want := row[3]+" "+row[4], decimal(cost(0, row[0]))+" "+differs(row[0]); got != want {
			t.Errorf("%s costs %s, want %s", row[0], got, want)
		}
	}
	b.picture("comparison")
	b.calm()
}

// drag selects a span of the timeline by mouse.
func (b *tab) drag() {
	b.Helper()
	box := js[[]float64](b, "(() => { const r = document.getElementById('heat').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
	y := box[1] + box[3]/2
	b.do(chromedp.DragAndDropXY(box[0]+0.3*box[2], y, box[0]+0.5*box[2], y))
	b.settled()
}

// Names of the recorded program are only text.
func TestHostileNames(t *testing.T) {
	b := newTab(t)
	for _, name := range []string{"</script><script>globalThis.evil = 1</script>", "<img src=x onerror='globalThis.evil=1'>", "@DATA@ {{.Data}}", "\"'><svg onload=alert(1)>", "\xff\u202e\x00", strings.Repeat("wide", 50)} {
		p := hostile(t, name)
		b.open(p)
		for i := range 6 {
			b.key(fmt.Sprint(i + 1))
			if wide := js[string](b, "(() => { const p = document.getElementById('panel'); return p.scrollWidth > p.clientWidth ? cpprof.tab : ''; })()"); wide != "" {
				t.Errorf("%q: the table %s is wider than its place", name, wide)
			}
		}
		if tab := js[string](b, "cpprof.tab"); tab != "about" {
			t.Errorf("the last key shows %s", tab)
		}
		b.run("cpprof.openView('*')")
		for _, bad := range []string{"'evil' in globalThis", "document.querySelectorAll('script').length !== 1", "document.querySelectorAll('img, svg').length > 0"} {
			if js[bool](b, bad) {
				t.Errorf("%q: %s", name, bad)
			}
		}
	}
	b.calm()
}

// hostile returns a page that has a name in all places.
func hostile(t testing.TB, name string) *Page {
	t.Helper()
	b := sampledata.NewBuilder(sampledata.Header{Command: []string{name}, Executable: name, GOMAXPROCS: 1, Start: time.Unix(1, 0)})
	fn := b.Function(sampledata.Function{Name: name, File: name, Line: 3})
	stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: fn, Line: 4})
	first := b.Goroutine(sampledata.Goroutine{ID: 1, Start: fn, Site: sampledata.Site{Function: name, File: name, Line: 1}})
	second := b.Goroutine(sampledata.Goroutine{ID: 2, Start: fn})
	holders := b.HolderSet([]sampledata.GoroutineID{first})
	b.LockName(sampledata.LockName{Address: 0x10, Name: name})
	for i := range 40 {
		var changes []sampledata.Change
		if i == 0 {
			changes = []sampledata.Change{
				{Goroutine: first, State: sampledata.State{Stack: stack, Run: sampledata.Running}},
				{Goroutine: second, State: sampledata.State{Stack: stack, Run: sampledata.Blocked, Lock: 0x10, Holders: holders, Evidence: sampledata.Inferred}},
			}
		}
		fixture.Check(t,
			b.Sample(sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond, Processors: []sampledata.GoroutineID{first}}, changes))
	}
	fixture.Check(t, b.Finish(sampledata.End{Cause: sampledata.EndDuration, Time: time.Second}))
	return pageOf(name, b.Recording())
}
