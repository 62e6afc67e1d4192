package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// served is the page of synthetic.Served.
func served(requests int, end string) *Page {
	return pageOf("served.cpprof", synthetic.Served(requests, end))
}

// Each question has an answer, and bad ones an error that names
// what is wrong.
func TestAnswers(t *testing.T) {
	hostile := "\"><script>\xff"
	s := newShown(served(100, hostile))
	handle := "main.handle" + hostile
	for _, c := range []struct {
		what, query, want string
	}{
		{"proposals", "", `"calls":100`},
		{"latency", "columns=50&rows=40&function=" + url.QueryEscape(handle), `"step_ns":100000000`},
		{"latency", "columns=50&rows=40&function=F&calls=" + url.QueryEscape(handle+" > 50ms"), `an unknown function`},
		{"latency", "columns=50&rows=40&function=" + url.QueryEscape(handle) + "&calls=" + url.QueryEscape(handle+" > 50ms"), `"chosen":1`},
		{"latency", "columns=0&rows=40&function=" + url.QueryEscape(handle), `columns "0": want a whole number from 1 to 2000`},
		{"latency", "columns=1e9&rows=40&function=" + url.QueryEscape(handle), `columns "1e9": want`},
		{"latency", "columns=50&rows=9999999999999999999999&function=" + url.QueryEscape(handle), `rows`},
		{"latency", "columns=50&rows=NaN&function=" + url.QueryEscape(handle), `rows "NaN": want`},
		{"latency", "columns=5&rows=5&function=" + strings.Repeat("x", 9000), `9000 characters`},
		{"area", "columns=50&rows=40&left=0&right=5&bottom=0&top=3&function=" + url.QueryEscape(handle), ` @ ,600ms`},
		{"area", "columns=50&rows=40&left=-1&right=5&bottom=0&top=3&function=" + url.QueryEscape(handle), `left "-1": want`},
		{"area", "columns=50&rows=40&left=0&right=50000&bottom=0&top=3&function=" + url.QueryEscape(handle), `right "50000": want`},
		{"contrast", "calls=" + url.QueryEscape(handle+" > 50ms"), `"slow":20,"rest":80`},
		{"contrast", "calls=" + url.QueryEscape(handle+" > 50ms"), `which go:main.hold`},
		{"contrast", "calls=" + url.QueryEscape(handle+" > NaN"), `want a comparison`},
		{"call", "number=1&function=" + url.QueryEscape(handle), `"length_ns":120000000,"typed":3,"text":"waits for`},
		{"call", "number=101&function=" + url.QueryEscape(handle), `number "101": want a whole number from 1 to 100`},
	} {
		q := fixture.Must(url.ParseQuery(c.query))(t)
		got := ""
		answer, err := ask(answers[c.what], s, q)
		if bad := (badRequest{}); err != nil && !errors.As(err, &bad) {
			t.Errorf("%s?%.200s: the server is blamed: %v", c.what, c.query, err)
		}
		if err == nil {
			text := fixture.Must(json.Marshal(answer))(t)
			got = string(text)
		} else if got = err.Error(); strings.Contains(got, `"F"`) {
			got = "an unknown function"
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s?%.200s: %.1500s, want %s", c.what, c.query, got, c.want)
		}
	}
	if _, err := s.data(handle + " > 1h"); err == nil || !strings.Contains(err.Error(), "the longest took 160ms") {
		t.Errorf("of no call, the data are %v", err)
	}
	for i := range 2 * keptData {
		fixture.Must(s.data(fmt.Sprintf("%s > %dms", handle, i)))(t)
	}
	if len(s.made) != keptData {
		t.Errorf("%d data are kept, want %d", len(s.made), keptData)
	}
}

// A person drags over the slow calls: the graph then shows their
// time, with the numbers of views. A reload shows the same.
func TestLatency(t *testing.T) {
	const name = "<img src=x onerror='globalThis.evil=1'>"
	p := served(100, name)
	b := newTab(t)
	s := serve(t, Content{Name: p.Name, Page: func() (*Page, error) { return p, nil }})
	b.do(chromedp.Navigate(s.URL+"#view=go:main.send"+url.QueryEscape(name)), chromedp.WaitReady("html[data-ready=yes]"))
	b.run("document.getElementById('show-calls').click()")
	b.until("cpprof.latency.map && cpprof.latency.found")
	box := js[[]float64](b, `(() => {
		const l = cpprof.latency, r = l.canvas.getBoundingClientRect(), row = l.rowOf(100e6);
		return [r.x + l.x(0) + 1, r.x + l.x(l.map.columns) - 2, r.y + 3, r.y + l.y(Math.floor(row))];
	})()`)
	b.picture("latency")
	b.do(chromedp.DragAndDropXY(box[0], box[2], box[1], box[3]))
	b.until("cpprof.header.calls && cpprof.latency.marked && cpprof.latency.found.slow === 20")
	table := fixture.Must(calls.Of(p.Recording, "main.send"+name))(t)
	only := js[string](b, "cpprof.header.calls")
	function, condition, err := calls.Parse(only)
	if err != nil || function != "main.send"+name {
		t.Fatalf("only %q is shown: %v", only, err)
	}
	within := fixture.Must(table.Restrict(condition, false))(t)
	v := fixture.Must(views.Thread(within, "go:main.send"+name, p.Options))(t)
	b.sameFigures("within "+only, v)
	b.run("cpprof.latency.step(1)")
	b.until("document.getElementById('panel').innerText.includes('holds it')")
	b.picture("latency-area")
	b.run("cpprof.openTab('functions'); cpprof.keep()")
	b.until("location.hash.includes('calls=') && location.hash.includes('tab=functions')")
	const state = "[cpprof.current.name, cpprof.header.calls, cpprof.picture, cpprof.tab, document.getElementById('only').innerText, location.hash].join(' ')"
	before := js[string](b, state)
	b.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready=yes]"))
	b.until("cpprof.latency.marked")
	if after := js[string](b, state); after != before {
		t.Errorf("a reload shows %s, want %s", after, before)
	}
	b.sameFigures("reloaded within "+only, v)
	b.run("document.getElementById('latency-zoom').click()")
	b.until("!cpprof.latency.map.whole && location.hash.includes('window=')")
	if n := js[int](b, "cpprof.latency.map.cells.reduce((n, c) => n + c.chosen, 0)"); n != 20 {
		t.Errorf("zoomed to the chosen calls, the map has %d of them", n)
	}
	zoomed := js[string](b, state)
	b.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready=yes]"))
	b.until("cpprof.latency.marked && !cpprof.latency.map.whole")
	if after := js[string](b, state); after != zoomed {
		t.Errorf("a reload shows %s, want %s", after, zoomed)
	}
	b.run("document.getElementById('latency-whole').click()")
	b.until("cpprof.latency.map.whole && !location.hash.includes('window=')")
	b.run("document.getElementById('only-all').click()")
	b.until("!cpprof.header.calls && !cpprof.latency.marked")
	b.do(call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyDown", Key: "p"}))
	if js[string](b, "cpprof.picture") == "calls" {
		t.Error("p does not show the next picture")
	}
	if js[bool](b, "'evil' in globalThis || document.querySelectorAll('img').length > 0") {
		t.Error("a name is markup")
	}
	b.run("globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch')); cpprof.latency.step(1)")
	b.until("document.getElementById('hint').textContent === 'cpprof does not answer: it has ended'")
	b.calm()
}

// A page in a file says that calls need a server.
func TestLatencyAlone(t *testing.T) {
	b := newTab(t)
	b.open(served(20, ""))
	b.run("document.getElementById('show-calls').click()")
	if hint := js[string](b, "cpprof.picture + ': ' + document.getElementById('hint').textContent"); !strings.HasPrefix(hint, "timeline: ") || !strings.Contains(hint, "cpprof web") {
		t.Errorf("the page says %q", hint)
	}
	b.calm()
}
