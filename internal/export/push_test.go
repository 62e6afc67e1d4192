package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/views"
	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// ingest checks a request as the documentation of Pyroscope's
// server API describes it.
func ingest(r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/ingest" {
		return fmt.Errorf("%s %s", r.Method, r.URL.Path)
	}
	q := r.URL.Query()
	if q.Get("name") != "shop{env=staging}" || q.Get("from") != "1700000000" || q.Get("until") != "1700000010" {
		return fmt.Errorf("query %v", q)
	}
	if q.Has("format") {
		return errors.New("the server takes the whole body for a profile if the format is given")
	}
	if r.Header.Get("X-Scope-OrgID") != "team" || r.Header.Get("Authorization") != "Bearer secret" {
		return fmt.Errorf("header %v", r.Header)
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		return err
	}
	f, _, err := r.FormFile("profile")
	if err != nil {
		return err
	}
	p, err := profile.Parse(f)
	if err != nil {
		return err
	}
	if len(p.Sample) == 0 || p.SampleType[0].Type != "wall" {
		return fmt.Errorf("profile %v", p)
	}
	config, _, err := r.FormFile("sample_type_config")
	if err != nil {
		return err
	}
	text, err := io.ReadAll(config)
	if err == nil && !bytes.Contains(text, []byte(`"wall"`)) {
		err = fmt.Errorf("sample types %s", text)
	}
	return err
}

func TestPush(t *testing.T) {
	r := synthetic.Recording(20, 10, 0.3)
	pushed := func() *profile.Profile {
		return fixture.Must(PprofOf(subject(t, r, views.Options{}, views.Threads)))(t)
	}
	from := time.Unix(1700000000, 0)
	for _, c := range []struct {
		name    string
		answers []int // of the server; then 200
		tries   int
		want    string // of the error
		calls   int
	}{
		{"fine", nil, 3, "", 1},
		{"busy", []int{503, 429}, 3, "", 3},
		{"always busy", []int{500, 500, 500}, 3, "tried 3 times", 3},
		{"forbidden", []int{401}, 3, "--tenant", 1},
		{"elsewhere", []int{404}, 3, "without the path", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := ingest(r); err != nil {
					t.Error(err)
				}
				calls++
				if calls <= len(c.answers) {
					http.Error(w, "no\x1b[31m", c.answers[calls-1])
				}
			}))
			defer server.Close()
			m := fixture.Must(
				PyroscopeMessage(pushed(), "shop{env=staging}", from, from.Add(10*time.Second)))(t)
			p := Pusher{URL: server.URL, Tenant: "team", Token: "secret", Tries: c.tries, Pause: time.Millisecond}
			err := p.Push(t.Context(), m)
			if calls != c.calls || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d calls, %v; want %d, %q", calls, err, c.calls, c.want)
			}
		})
	}
}

func TestWrongPush(t *testing.T) {
	for _, u := range []string{"127.0.0.1:4040", "ftp://x", "http://x?y=z"} {
		if err := (&Pusher{URL: u}).Push(t.Context(), Message{}); err == nil {
			t.Errorf("%s: no error", u)
		}
	}
	for _, name := range []string{"", "a{b}", "a{b=c,1=2}"} {
		_, err := PyroscopeMessage(&profile.Profile{}, name, time.Unix(0, 0), time.Unix(1, 0))
		if err == nil {
			t.Errorf("%q: no error", name)
		}
	}
	p := Pusher{URL: "http://user:secret@127.0.0.1:1"}
	err := p.Push(t.Context(), Message{})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("an unreachable server: %v", err)
	}
}

// A collector gets the request of OTLP over HTTP.
func TestPushOTLP(t *testing.T) {
	s := subject(t, synthetic.Recording(20, 10, 0.3), views.Options{}, views.Threads)
	var got pprofile.Profiles
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1development/profiles" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Authorization") != "Bearer token" || r.Header.Get("X-Team") != "a,b" {
			t.Errorf("%s %s: %v", r.URL, r.Header, err)
		}
		got = readOTLP(t, string(body))
	}))
	defer server.Close()
	body := fixture.Must(OTLPOf(s))(t)
	headers := fixture.Must(
		ParseHeaders("x-team=a%2Cb,content-type=text/plain,authorization=other"))(t)
	fixture.Check(t,
		(&Pusher{URL: server.URL, Header: headers, Token: "token"}).Push(t.Context(), OTLPMessage(body)))
	if got.SampleCount() == 0 {
		t.Error("no sample arrived")
	}
}

// What a push carries goes to the server that was named, and to no other.
func TestPushRedirected(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server gets %s with %s", r.Method, r.Header)
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(other.URL+"/in?key=hunter2", status))
		p := &Pusher{URL: server.URL, Header: http.Header{"X-Api-Key": {"secret"}}, Token: "token", Tries: 2}
		err := p.Push(t.Context(), OTLPMessage([]byte("a profile")))
		if err == nil || !strings.Contains(err.Error(), other.URL+"/in\"") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("status %d: %v, want an error that names %s", status, err, other.URL)
		}
		server.Close()
	}
}
