package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// The tracks of classes, of goroutines and of holders, and what
// a goroutine did. Bad questions get an error that names what is
// wrong.
func TestTracks(t *testing.T) {
	hostile := "\"><script>\xff"
	s := newShown(served(100, hostile))
	class := "go:main.send" + hostile
	for _, c := range []struct{ what, query, want string }{
		{"tracks", "first=0&rows=9&columns=4", `"goroutines":100,"shares":[`},
		{"tracks", "first=0&rows=9&columns=9&class=" + url.QueryEscape(class), `"first":0,"total":100,`},
		{"tracks", "first=98&rows=9&columns=9&class=" + url.QueryEscape(class), `{"id":101,`},
		{"tracks", "first=999999&rows=9&columns=9&class=" + url.QueryEscape(class), `"rows":[]`},
		{"tracks", "first=0&rows=9&columns=900&goroutine=2", `"held":[`},
		{"tracks", "first=0&rows=9&columns=900&goroutine=2&function=" + url.QueryEscape("main.handle"+hostile), `"calls":[15000000,175000000,1]`},
		{"tracks", "first=0&rows=9&columns=900&goroutine=2&from=20000000&to=30000000", `"segments":[5000000,10000000,0,0]`},
		{"tracks", "first=0&rows=9&columns=9&goroutine=7000", `goroutine "7000"`},
		{"tracks", "first=0&rows=9&columns=9&goroutine=x", `goroutine "x"`},
		{"tracks", "first=0&rows=9&columns=9&class=go:nobody", `class "go:nobody"`},
		{"tracks", "first=-1&rows=9&columns=9", `first "-1": want`},
		{"tracks", "first=0&rows=201&columns=9", `rows "201": want a whole number from 1 to 200`},
		{"tracks", "first=0&rows=9&columns=2001", `columns "2001": want`},
		{"tracks", "first=0&rows=9&columns=9&from=NaN", `from "NaN": want`},
		{"tracks", "first=0&rows=9&columns=9&from=-1", `from "-1": want`},
		{"tracks", "first=0&rows=9&columns=9&from=5&to=5", `from 5 to 5: want a span`},
		{"tracks", fmt.Sprintf("first=0&rows=9&columns=9&to=%d", math.MaxInt64), `want a span`},
		{"moment", "goroutine=2&at=100000000", `"text":"waits for a lock taken in main.lock`},
		{"moment", "goroutine=2&at=100000000", `"verb":"holds it"`},
		{"moment", "goroutine=2&at=100000000", `"holders":[{"id":1,"class":"go:main.hold`},
		{"moment", "goroutine=2&at=0", `"text":"is not there"`},
		{"moment", "goroutine=2&at=1e9", `at "1e9": want`},
		{"moment", "goroutine=2&at=9223372036854775807", `at "9223372036854775807": want`},
		{"moment", "goroutine=&at=1", `goroutine "": `},
	} {
		q := fixture.Must(url.ParseQuery(c.query))(t)
		answer, err := ask(answers[c.what], s, q)
		if bad := (badRequest{}); err != nil && !errors.As(err, &bad) {
			t.Errorf("%s?%s: the server is blamed: %v", c.what, c.query, err)
		}
		got := fmt.Sprint(err)
		if err == nil {
			text := fixture.Must(json.Marshal(answer))(t)
			got = string(text)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s?%s: %.1500s, want %s", c.what, c.query, got, c.want)
		}
	}
}

// waitsFor makes a recording in which goroutine 2 waits, and
// goroutine 1 is known, with some evidence, as the one that ends
// the wait.
func waitsFor(state sampledata.RunState, reason string, e sampledata.Evidence) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{})
	f := b.Function(sampledata.Function{Name: "main.run"})
	stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f, Line: 1})
	one := b.Goroutine(sampledata.Goroutine{ID: 1, Start: f})
	two := b.Goroutine(sampledata.Goroutine{ID: 2, Start: f})
	waits := sampledata.State{Stack: stack, Run: state, Reason: reason, Evidence: e,
		Holders: b.HolderSet([]sampledata.GoroutineID{one})}
	changes := []sampledata.Change{
		{Goroutine: one, State: sampledata.State{Stack: stack, Run: sampledata.Running}},
		{Goroutine: two, State: waits},
	}
	for i := range 20 {
		if err := b.Sample(sampledata.Sample{Time: time.Duration(i+1) * time.Millisecond}, changes); err != nil {
			panic(err) // can't happen: the samples are valid
		}
		changes = nil
	}
	if err := b.Finish(sampledata.End{Cause: sampledata.EndDuration, Time: time.Second}); err != nil {
		panic(err)
	}
	return b.Recording()
}

// What a goroutine is to the wait of another one is in the words
// of report.
func TestHolderVerb(t *testing.T) {
	tab := newTab(t)
	for _, c := range []struct {
		state  sampledata.RunState
		reason string
		e      sampledata.Evidence
		want   string
	}{
		{sampledata.Blocked, "sync.Mutex.Lock", sampledata.Inferred, "goroutine 1 holds it: go:main.run"},
		{sampledata.Waiting, "sync.WaitGroup.Wait", sampledata.Likely, "goroutine 1 is waited for: go:main.run"},
		{sampledata.Waiting, "chan receive", sampledata.Likely, "goroutine 1 probably has it: go:main.run"},
		{sampledata.Waiting, "chan receive", sampledata.Ambiguous, "goroutine 1 may end it: go:main.run"},
	} {
		p := pageOf("waits.cpprof", waitsFor(c.state, c.reason, c.e))
		s := serve(t, Content{Name: p.Name, Page: func() (*Page, error) { return p, nil }})
		tab.do(chromedp.Navigate(s.URL+"#picture=tracks&goroutine=2"), chromedp.WaitReady("html[data-ready=yes]"))
		tab.until("cpprof.tracks.part && cpprof.tracks.part.rows.length")
		tab.run("cpprof.tracks.tell(cpprof.tracks.part.rows[0], 9e6, {clientX: 99, clientY: 99})")
		tab.until("!document.getElementById('tip').hidden")
		if tip := js[string](tab, "document.getElementById('tip').innerText"); !strings.Contains(tip, c.want) {
			t.Errorf("%s, %v: %s, want %s", c.reason, c.e, tip, c.want)
		}
	}
	tab.calm()
}

// From a slow call, a click leads to its goroutine's track, with
// the holder below it; a click on the track to its stack in the
// graph. A reload shows the same.
func TestTracksOfCall(t *testing.T) {
	p := served(100, "")
	b := newTab(t)
	s := serve(t, Content{Name: p.Name, Page: func() (*Page, error) { return p, nil }})
	b.do(chromedp.Navigate(s.URL+"#picture=calls"), chromedp.WaitReady("html[data-ready=yes]"))
	b.until("cpprof.latency.found")
	b.run("document.querySelector('table[aria-label=\"the longest calls\"] button').click()")
	b.until("[...document.querySelectorAll('#panel button')].some((e) => e.textContent === 'show its track' && (e.click(), true))")
	b.until("cpprof.picture === 'tracks' && cpprof.tracks.part && cpprof.tracks.part.rows.length === 2")
	place := js[[]float64](b, `(() => {
		const t = cpprof.tracks, r = t.canvas.getBoundingClientRect();
		return [r.x + t.x(t.part.rows[1].held[0]) + 20, r.y + 12];
	})()`)
	b.do(call(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseMoved", X: place[0], Y: place[1]}))
	b.until("!document.getElementById('tip').hidden")
	if tip := js[string](b, "document.getElementById('tip').innerText"); !strings.Contains(tip, "goroutine 1 holds it: go:main.hold sleeps, in main.hold") {
		t.Errorf("under the pointer: %s", tip)
	}
	b.picture("tracks-call")
	b.do(chromedp.MouseClickXY(place[0], place[1]))
	b.until("cpprof.current.path(cpprof.zoomed()).join() === 'main.send,main.handle,main.lock,:MONITOR'")
	b.until("location.hash.includes('window=') && location.hash.includes('path=')")
	const state = "[cpprof.picture, cpprof.tracks.goroutine, cpprof.tracks.part.from_ns, cpprof.tracks.part.rows.length, cpprof.current.path(cpprof.zoomed()), location.hash].join(' ')"
	before := js[string](b, state)
	b.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready=yes]"))
	b.until("cpprof.tracks.part && cpprof.tracks.part.rows.length")
	b.settled()
	if after := js[string](b, state); after != before {
		t.Errorf("a reload shows %s, want %s", after, before)
	}
	b.calm()
}

// 10,000 goroutines are one canvas; scrolling through them asks
// for what stays visible only.
func TestManyTracksLong(t *testing.T) {
	fixture.Long(t)
	p := synthesized(40, 10_000, 0.05)
	b := newTab(t)
	s := serve(t, Content{Name: p.Name, Page: func() (*Page, error) { return p, nil }})
	b.do(chromedp.Navigate(s.URL), chromedp.WaitReady("html[data-ready=yes]"))
	elements := js[int](b, "document.querySelectorAll('*').length")
	b.run(`globalThis.asked = 0; const ask = cpprof.ask.bind(cpprof); cpprof.ask = (what, q) => { if (what === 'tracks') asked++; return ask(what, q); };
		document.getElementById('show-tracks').click()`)
	b.until("cpprof.tracks.part")
	b.run("cpprof.tracks.down(0)")
	b.until("cpprof.tracks.part.rows.length")
	total := js[int](b, "cpprof.tracks.part.total")
	if total < 400 {
		t.Fatalf("the first class has %d goroutines", total)
	}
	asked := js[int](b, "asked")
	longest := js[float64](b, `(async () => {
		const s = document.getElementById('tracks-scroller');
		let longest = 0;
		for (let i = 1; i <= 300; i++) {
			s.scrollTop = i / 300 * (s.scrollHeight - s.clientHeight);
			const from = performance.now();
			cpprof.tracks.draw();
			longest = Math.max(longest, performance.now() - from);
			if (i % 10 === 0) await new Promise(requestAnimationFrame);
		}
		return longest;
	})()`)
	b.until("!cpprof.tracks.missing() && cpprof.tracks.part.first > 300")
	more, now := js[int](b, "asked")-asked, js[int](b, "document.querySelectorAll('*').length")
	t.Logf("%d goroutines in the class: %d requests, %d elements more, a drawing took %.1f ms at most", total, more, now-elements, longest)
	if more > 30 || now-elements > 100 {
		t.Errorf("%d requests and %d elements more for 300 steps of scrolling", more, now-elements)
	}
	b.picture("tracks-many")
	b.calm()
}

// Requests at the same time do not disturb each other.
func TestTogether(t *testing.T) {
	s := newShown(served(50, ""))
	var failed atomic.Value
	done := make(chan bool)
	for i := range 8 {
		go func() {
			defer func() { done <- true }()
			for range 20 {
				what := []string{"tracks", "moment", "latency", "contrast"}[i%4]
				q, _ := url.ParseQuery(fmt.Sprintf("first=0&rows=50&columns=%d&goroutine=2&at=100000000&function=main.%s&calls=main.handle", 50+i, []string{"handle", "send"}[i/4]))
				if _, err := ask(answers[what], s, q); err != nil {
					failed.Store(err)
				}
			}
		}()
	}
	for range 8 {
		<-done
	}
	if err := failed.Load(); err != nil {
		t.Error(err)
	}
}
