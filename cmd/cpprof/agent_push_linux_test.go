package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// The agent pushes profiles of what it serves, again and again,
// in OpenTelemetry's form. A collector that is busy gets them
// later.
func TestAgentPushes(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	bodies, busy := make(chan []byte, 2), true
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1development/profiles" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Api-Key") != "a,b" {
			t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
		}
		if busy {
			busy = false
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		select {
		case bodies <- body:
		default: // two are enough
		}
	}))
	t.Cleanup(collector.Close) // after the agent's end
	t.Setenv(collectorVar, "localhost:1")
	refuses(t, []refusal{{"agent --otlp", exitUsage, "--otlp: $" + collectorVar + ": push to "}})
	t.Setenv(collectorVar, collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2%")
	refuses(t, []refusal{{"agent --otlp", exitUsage, "--otlp: $OTEL_EXPORTER_OTLP_HEADERS: entry 1, api-key: "}})
	t.Setenv("OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "api-key=a%2Cb")
	a := startAgent(t, "--max-duration", "1s", "--every", "1s", "--max-cpu", "0", "--match", "mutex", "--otlp")
	var last time.Time
	holders := false // in a busy second there may be no sample of one
	for n := 0; n < 2 || !holders; {
		var body []byte
		select {
		case body = <-bodies:
		case <-time.After(time.Minute):
			t.Fatal("nothing is pushed")
		}
		got := fixture.Must((&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(body))(t)
		about := got.ResourceProfiles().At(0).Resource().Attributes().AsRaw()
		if about["process.pid"] != int64(target.Pid()) {
			continue // another user of this machine runs the same
		}
		if about["service.name"] != "mutex" {
			t.Errorf("it is of %v", about)
		}
		profile := got.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
		if at := profile.Time().AsTime(); !at.After(last) || profile.Samples().Len() == 0 {
			t.Errorf("%d samples at %v, after %v", profile.Samples().Len(), at, last)
		} else {
			last = at
		}
		names := strings.Join(got.Dictionary().StringTable().AsRaw(), " ")
		holders = holders || strings.Contains(names, "main.hold") && strings.Contains(names, " lock ")
		n++
	}
	_, body := a.get("/metrics", http.StatusOK)
	if !regexp.MustCompile(`\ncpprof_agent_pushes_total\{outcome="complete"\} [1-9]`).Match(body) {
		t.Errorf("the pushes are not counted: %s", body)
	}
}
