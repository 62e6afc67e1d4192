package page

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
)

// sourced returns a page whose file main.go is on this machine.
func sourced(t testing.TB) *Page {
	t.Helper()
	p := synthesized(200, 60, 0.1)
	var text strings.Builder
	for n := range 400 {
		fmt.Fprintf(&text, "\tline%d() // <b>\n", n+1)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	fixture.Check(t, os.WriteFile(file, []byte(text.String()), 0o666))
	for i := range p.Recording.Functions {
		if f := &p.Recording.Functions[i]; f.File == "/src/main.go" {
			f.File = file
		}
	}
	return p
}

// The only line of a class's first function has the hits of the
// whole class, in its Thread View, and among all classes.
func TestSources(t *testing.T) {
	const class, function = "go:main.worker3", "main.worker3"
	p := sourced(t)
	sh := newShown(p)
	source := func(view, function string) (report.Source, error) {
		found, err := ask((*shown).source, sh, url.Values{"view": {view}, "function": {function}})
		s, _ := found.(report.Source)
		return s, err
	}
	v := fixture.Must(views.Thread(p.Recording, class, p.Options))(t)
	hits := report.Hits(v.Tree.Main().Hits().Through(0).Hits)
	for _, view := range []string{class, "", class} {
		s := fixture.Must(source(view, function))(t)
		if s.Missing != "" || len(s.Lines) != 5 || !strings.HasSuffix(s.Place, "main.go:300") {
			t.Fatalf("%q: %+v, want 5 lines of main.go:300", view, s)
		}
		for i, l := range s.Lines {
			want := report.SourceLine{Number: 300 + i, Text: fmt.Sprintf("    line%d() // <b>", 300+i), Heat: report.HeatLevels - 1}
			if l.Number == 301 {
				want.Hits, want.Heat, want.Hottest = hits, 0, true
			}
			if l != want {
				t.Errorf("%q: %+v, want %+v", view, l, want)
			}
		}
	}
	if s, err := source(class, "pkg1.f1"); err != nil || s.Missing == "" {
		t.Errorf("%+v, %v: want a function without source", s, err)
	}
	if _, err := source("go:nobody", function); err == nil {
		t.Error("a class that is not there has a source")
	}
}

// The table shows the source of the function that is selected,
// and follows the selection.
func TestSourceTableLong(t *testing.T) {
	fixture.Long(t) // it starts a browser
	p := sourced(t)
	b := newTab(t)
	s := serve(t, Content{Name: p.Name, Page: func() (*Page, error) { return p, nil }, Source: true})
	b.do(chromedp.Navigate(s.URL), chromedp.WaitReady("html[data-ready=yes]"))
	b.run("cpprof.openView('go:main.worker3', ['main.worker3']); cpprof.openTab('source')")
	text := func(word string) string {
		return js[string](b, fmt.Sprintf(`new Promise((done) => {
			const look = () => document.getElementById('panel').innerText.includes('%s') ? done(document.getElementById('panel').innerText) : setTimeout(look, 50);
			look();
		})`, word))
	}
	if got := text("line301"); !strings.Contains(got, "line303() // <b>") || strings.Contains(got, "line305()") {
		t.Errorf("the table shows %q", got)
	}
	b.picture("source")
	b.run("cpprof.zoom(cpprof.graph.focus + 1)")
	text("the source is not on this machine")
	b.calm()
}
