package monitor

import (
	"expvar"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// served is an endpoint whose answer a test changes.
func served(t *testing.T, answer http.HandlerFunc) (*atomic.Value, string) {
	var now atomic.Value
	now.Store(answer)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().(http.HandlerFunc)(w, r) }))
	t.Cleanup(server.CloseClientConnections)
	return &now, server.URL + "/metrics"
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
}

const metrics = `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{code="200"} 12
requests_total{code="500"} 1
# TYPE queue_bytes gauge
queue_bytes 4096
# TYPE latency_seconds histogram
latency_seconds_bucket{le="0.1"} 3
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 1.5
latency_seconds_count 4
# TYPE go_goroutines gauge
go_goroutines 7
plain NaN
`

// The numbers of Prometheus' text format, with their kinds and
// units; numbers that come later get monitors, too.
func TestPrometheus(t *testing.T) {
	now, url := served(t, text(metrics))
	r := fixture.Must(endpoint(url, true).Open(Target{}))(t)
	defer r.Close()
	check := func(want string) {
		t.Helper()
		values := fixture.Must(r.Read(nil))(t)
		var lines []string
		for i, m := range r.Monitors()[1:] {
			lines = append(lines, fmt.Sprint(m.Name, " ", m.Kind, " ", m.Layer, " ", m.Unit, " ", values[i+1]))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if age, ok := values[0].Float(); !ok || age < 0 {
			t.Errorf("the answer is %v old", values[0])
		}
	}
	check(`go_goroutines level runtime  7
latency_seconds_count counter application  4
latency_seconds_sum counter application s 1.5
plain level application  not measured
queue_bytes level application bytes 4096
requests_total{code="200"} counter application  12
requests_total{code="500"} counter application  1`)
	now.Store(text("queue_bytes 1\nnew_one 2\n"))
	fixture.Check(t, r.(*endpointReader).scrape(t.Context()))
	check(`go_goroutines level runtime  not measured
latency_seconds_count counter application  not measured
latency_seconds_sum counter application s not measured
plain level application  not measured
queue_bytes level application bytes 1
requests_total{code="200"} counter application  not measured
requests_total{code="500"} counter application  not measured
new_one level application  2`)
}

var published = expvar.NewInt("test.count")

// The numbers that package expvar publishes.
func TestExpvar(t *testing.T) {
	published.Set(42)
	_, url := served(t, expvar.Handler().ServeHTTP)
	r := fixture.Must(endpoint(url, true).Open(Target{}))(t)
	defer r.Close()
	now := map[string]sampledata.Value{}
	values := fixture.Must(r.Read(nil))(t)
	for i, m := range r.Monitors() {
		now[m.Name] = values[i]
	}
	if now["test.count"] != sampledata.Real(42) || !now["memstats.Mallocs"].Measured() || len(now) > 60 {
		t.Errorf("%v", now)
	}
}

// An endpoint that fails, hangs or answers without end costs a
// bounded time and memory. The samples go on without its values.
func TestBadEndpoint(t *testing.T) {
	t.Parallel()
	now, url := served(t, text(metrics))
	r := fixture.Must(endpoint(url, true).Open(Target{}))(t)
	defer r.Close()
	e := r.(*endpointReader)
	for want, answer := range map[string]http.HandlerFunc{
		"500 Internal Server Error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"Client.Timeout":            func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"more than 4 MiB": func(w http.ResponseWriter, _ *http.Request) {
			line := strings.Repeat("#", 1<<20)
			for range 100 {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		},
		"can't be read":  text("a{ 1 2 3"),
		"has no numbers": text(""),
	} {
		now.Store(answer)
		if err := e.scrape(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	many := &strings.Builder{}
	for i := range 2 * maxNumbers {
		fmt.Fprintf(many, "n%d 1\n", i)
	}
	now.Store(text(many.String()))
	if err := e.scrape(t.Context()); err != nil || len(r.Monitors()) != maxNumbers+1 {
		t.Errorf("%d monitors, %v", len(r.Monitors()), err)
	}
	if values, err := r.Read(nil); err == nil || !strings.Contains(err.Error(), "left out") || len(values) != maxNumbers+1 || !values[maxNumbers].Measured() {
		t.Errorf("%d values, %v", len(values), err)
	}
	recordMany(t, url)
	if _, err := endpoint("http://127.0.0.1:1/metrics", true).Open(Target{}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v", err)
	}
}

// recordMany reads an endpoint with more numbers than there may
// be: the others are measured, and a warning says so once.
func recordMany(t *testing.T, url string) {
	b := sampledata.NewBuilder(sampledata.Header{})
	s := fixture.Must(Open(Target{}, []Source{endpoint(url, true)}))(t)
	defer s.Close()
	s.Define(b)
	if err := s.Measure(b); err == nil || !strings.Contains(err.Error(), "left out") {
		t.Errorf("%v", err)
	}
	fixture.Check(t, b.Sample(sampledata.Sample{Time: 1}, nil))
	series := b.Recording().Series
	if len(series) != maxNumbers+1 || valuesOf(series[maxNumbers]) != "1" {
		t.Errorf("%d series", len(series))
	}
}

// A scrape in the background that fails is an error once, and
// its values are not measured until another one succeeds.
func TestEndpointRecovers(t *testing.T) {
	t.Parallel()
	now, url := served(t, text("a 1\n"))
	b := sampledata.NewBuilder(sampledata.Header{})
	s := fixture.Must(Open(Target{}, []Source{endpoint(url, true), endpoint(url, true)}))(t)
	defer s.Close()
	s.Define(b)
	measured(t, s, b)
	// recorded takes samples until they have these values of a.
	// The two sources are scraped at times of their own.
	recorded := func(want string) (failures int) {
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if s.Measure(b) != nil {
				failures++
			}
			fixture.Check(t, b.Sample(sampledata.Sample{Time: 1}, nil))
			both := slices.DeleteFunc(b.Recording().Series, func(s sampledata.Series) bool { return s.Unit != "" })
			if len(both) == 2 && valuesOf(both[0]) == want && valuesOf(both[1]) == want {
				return failures
			}
			if time.Now().After(end) {
				t.Fatalf("want %q, got %v", want, both)
			}
		}
	}
	recorded("1")
	now.Store(text("<html>"))
	if failures := recorded("1 not measured"); failures == 0 {
		t.Error("no error")
	}
	now.Store(text("a 3\n"))
	recorded("1 not measured 3")
	var names []string
	for _, series := range b.Recording().Series {
		names = append(names, series.Name)
	}
	if want := []string{url, "a", url + " (2)", "a (2)"}; fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// valuesOf returns the values of a series.
func valuesOf(s sampledata.Series) string {
	var list []string
	for _, v := range s.All() {
		list = append(list, v.String())
	}
	return strings.Join(list, " ")
}
