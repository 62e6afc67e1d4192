package page

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/cpprof/cpprof/internal/fixture"
)

// serve shows a page until the test ends.
func serve(t testing.TB, c Content) *Server {
	t.Helper()
	s := fixture.Must(Listen(0, c))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// A server answers who has the URL, and nobody else.
func TestServer(t *testing.T) {
	p := synthesized(50, 5, 0.2)
	p.Name = "run.cpprof"
	data := fixture.Must(Data(p))(t)
	s := serve(t, Content{
		Name: p.Name, Page: func() (*Page, error) { return p, nil }, Source: true,
		Pprof: func(w io.Writer) error { _, err := io.WriteString(w, "a profile"); return err },
	})
	host := strings.TrimPrefix(s.URL[:strings.LastIndex(strings.TrimSuffix(s.URL, "/"), "/")], "http://")
	for _, c := range []struct {
		name, method, url string
		header            [2]string
		status            int
		text              string
	}{
		{"page", "GET", s.URL, [2]string{}, 200, `data-source="data"`},
		{"data", "GET", s.URL + "data", [2]string{}, 200, string(data)},
		{"own origin", "GET", s.URL + "data", [2]string{"Origin", "http://" + host}, 200, string(data)},
		{"pprof", "GET", s.URL + "pprof", [2]string{}, 200, "a profile"},
		{"source", "GET", s.URL + "source?view=*&function=pkg1.f1", [2]string{}, 200, `"pkg1.f1"`},
		{"source without a token", "GET", "http://" + host + "/source?view=*&function=main.f", [2]string{}, 403, "token"},
		{"no token", "GET", "http://" + host + "/", [2]string{}, 403, "token"},
		{"no token for data", "GET", "http://" + host + "/data", [2]string{}, 403, "token"},
		{"wrong token", "GET", "http://" + host + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/data", [2]string{}, 403, "token"},
		{"another name", "GET", s.URL + "data", [2]string{"Host", "evil.example"}, 403, "another host"},
		{"another name's port", "GET", s.URL + "data", [2]string{"Host", "127.0.0.1:1"}, 403, "another host"},
		{"another origin", "GET", s.URL + "data", [2]string{"Origin", "http://evil.example"}, 403, "another origin"},
		{"no origin's own", "GET", s.URL + "data", [2]string{"Origin", "null"}, 403, "another origin"},
		{"another site", "GET", s.URL + "data", [2]string{"Sec-Fetch-Site", "cross-site"}, 403, "another site"},
		{"source of no view", "GET", s.URL + "source?view=go:nobody&function=main.f", [2]string{}, 400, "nobody"},
		{"a change", "POST", s.URL + "data", [2]string{}, 405, "only shows"},
		{"something else", "GET", s.URL + "etc", [2]string{}, 404, "not found"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		r.RequestURI = ""
		if c.header[0] == "Host" {
			r.Host = c.header[1]
		} else if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		answer := fixture.Must(http.DefaultTransport.RoundTrip(r))(t)
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || !strings.Contains(string(text), c.text) {
			t.Errorf("%s: %d %.200s, want %d with %q", c.name, answer.StatusCode, text, c.status, c.text)
		}
	}
	other := httptest.NewRequest("GET", s.URL, nil)
	other.RemoteAddr = "192.0.2.1:1000"
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, other); w.Code != http.StatusForbidden {
		t.Errorf("a client of another machine gets %d", w.Code)
	}
}

// The page of a recording that grows follows it, and keeps the view.
func TestGrowingLong(t *testing.T) {
	fixture.Long(t)
	b := newTab(t)
	samples := 100
	s := serve(t, Content{Name: "run.cpprof", Page: func() (*Page, error) {
		p := synthesized(samples, 10, 0.1)
		if samples += 100; samples <= 300 {
			p.Recording.End = nil
		}
		return p, nil
	}})
	b.do(chromedp.Navigate(s.URL), chromedp.WaitReady("html[data-ready=yes]"))
	b.run("cpprof.openView('*')")
	got := js[string](b, `new Promise((done) => {
		const look = () => cpprof.header.growing ? setTimeout(look, 100) : done(cpprof.header.samples + ' ' + cpprof.current.name);
		look();
	})`)
	if got != "300 *" {
		t.Errorf("the page ends with %q", got)
	}
	b.calm()
}
