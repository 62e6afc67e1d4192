package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	pprofile "github.com/google/pprof/profile"
)

// A running agent is a process.
type runningAgent struct {
	*exec.Cmd
	t   *testing.T
	url string
}

func startAgent(t *testing.T, args ...string) *runningAgent {
	t.Helper()
	c := self(t, append([]string{"agent", "--listen", "127.0.0.1:0"}, args...)...)
	out := fixture.Must(c.StdoutPipe())(t)
	c.Stderr = os.Stderr
	fixture.Check(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	url, _, ok := strings.Cut(line, "/discovery")
	if err != nil || !ok {
		t.Fatalf("%q, %v", line, err)
	}
	return &runningAgent{c, t, url}
}

// fetch gets a path as collectors do.
func (a *runningAgent) fetch(ctx context.Context, path string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
	if err != nil {
		return nil, nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer, body, err
}

// get gets a path, and checks the status.
func (a *runningAgent) get(path string, status int) (*http.Response, []byte) {
	a.t.Helper()
	answer, body, err := a.fetch(a.t.Context(), path)
	if err != nil {
		a.t.Fatalf("%s: %v", path, err)
	}
	if answer.StatusCode != status {
		a.t.Fatalf("%s: %s, want %d: %s", path, answer.Status, status, body)
	}
	return answer, body
}

// busy gets a path for which there is no recording now.
func (a *runningAgent) busy(path string, status int) {
	a.t.Helper()
	answer, _ := a.get(path, status)
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || seconds < 1 {
		a.t.Errorf("%s: Retry-After is %q", path, answer.Header.Get("Retry-After"))
	}
}

// parsed gets a profile, and reads it as collectors do.
func (a *runningAgent) parsed(path string) *pprofile.Profile {
	a.t.Helper()
	_, body := a.get(path, http.StatusOK)
	return fixture.Must(pprofile.ParseData(body))(a.t)
}

// metric waits until a line is among the metrics.
func (a *runningAgent) metric(line string) {
	a.t.Helper()
	eventually(a.t, line, func() bool {
		_, body := a.get("/metrics", http.StatusOK)
		return strings.Contains(string(body), "\n"+line+"\n")
	})
}

// timeOf sums up the time of the samples with a label.
func timeOf(p *pprofile.Profile, label, value string) (sum int64) {
	for _, s := range p.Sample {
		if label == "" || len(s.Label[label]) == 1 && s.Label[label][0] == value {
			sum += s.Value[0]
		}
	}
	return sum
}

// stacksOf returns the functions of the samples with a label.
func stacksOf(p *pprofile.Profile, label, value string) string {
	text := " "
	for _, s := range p.Sample {
		if len(s.Label[label]) != 1 || s.Label[label][0] != value {
			continue
		}
		for _, l := range s.Location {
			for _, line := range l.Line {
				text += line.Function.Name + " "
			}
		}
	}
	return text
}

// TestAgent fetches what collectors fetch: the list of targets,
// and both profiles of one.
func TestAgent(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	a := startAgent(t, "--max-duration", "500ms", "--match", "mut*x", "--match", "no-such-program")
	answer, body := a.get("/discovery", http.StatusOK)
	var groups []struct {
		Targets []string
		Labels  map[string]string
	}
	if err := json.Unmarshal(body, &groups); err != nil || answer.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%v: %s %s", err, answer.Header, body)
	}
	pid := fmt.Sprint(target.Pid())
	found := false
	for _, g := range groups {
		found = found || len(g.Targets) == 1 && a.url == "http://"+g.Targets[0] && g.Labels["__param_pid"] == pid && g.Labels["service_name"] == "mutex"
	}
	if !found {
		t.Errorf("the targets are %s", body)
	}
	wall := a.parsed("/debug/pprof/wall?pid=" + pid + "&seconds=59")
	holders := a.parsed("/debug/pprof/mutexholders?pid=" + pid + "&seconds=59")
	if len(wall.SampleType) != 2 || wall.SampleType[0].Type != "time" || wall.SampleType[0].Unit != "nanoseconds" || wall.TimeNanos == 0 || wall.DurationNanos == 0 {
		t.Errorf("types %v, time %d, duration %d", wall.SampleType, wall.TimeNanos, wall.DurationNanos)
	}
	if waited := timeOf(wall, "state", "MONITOR"); waited == 0 || timeOf(holders, "", "") != waited {
		t.Errorf("goroutines waited for %d ns, and holders held for %d", waited, timeOf(holders, "", ""))
	}
	stacks := stacksOf(holders, "waiting_class", "go:main.worker")
	if !strings.Contains(stacks, " main.hold ") || strings.Contains(stacks, "sync.(*Mutex).Lock") {
		t.Errorf("workers wait for %s", stacks)
	}
	a.busy("/debug/pprof/wall?pid="+pid, http.StatusTooManyRequests)
	a.get("/debug/pprof/wall?pid=1", http.StatusNotFound)
	a.get("/debug/pprof/wall", http.StatusBadRequest)
	a.get("/debug/pprof/wall?seconds=-1&pid="+pid, http.StatusBadRequest)
	a.metric(`cpprof_agent_recordings_total{outcome="complete"} 1`)
	fixture.Check(t, a.Process.Signal(syscall.SIGTERM))
	if err := a.Wait(); err != nil {
		t.Errorf("the agent ends with %v", err)
	}
}

// A client that goes away ends its recording. While there are as
// many recordings as may be, others have to wait. A program
// lives on if the agent is killed while it records.
func TestAgentGivesUpRecordings(t *testing.T) {
	program := fixture.Build(t, "lifecycle")
	target, other := fixture.Start(t, program, "wait"), fixture.Start(t, program, "wait")
	needsTracing(t, target.Pid())
	a := startAgent(t, "--max-duration", "500s", "--every", "500s", "--at-once", "1")
	path := fmt.Sprintf("/debug/pprof/wall?pid=%d", target.Pid())
	fetch := func() (leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _, _ = a.fetch(ctx, path)
		}()
		a.metric("cpprof_agent_recordings 1")
		return func() {
			cancel()
			<-over
		}
	}
	leave := fetch()
	a.busy(fmt.Sprintf("/debug/pprof/wall?pid=%d", other.Pid()), http.StatusServiceUnavailable)
	leave()
	a.metric(`cpprof_agent_recordings_total{outcome="abandoned"} 1`)
	a.metric("cpprof_agent_recordings 0")
	target.Lives(t)

	path = fmt.Sprintf("/debug/pprof/wall?pid=%d", other.Pid())
	leave = fetch()
	fixture.Check(t, a.Process.Kill())
	leave()
	other.Lives(t)
}

// What can't be served is refused before anything is opened.
func TestAgentRefuses(t *testing.T) {
	refuses(t, []refusal{
		{"agent --listen 0.0.0.0:0 --duration 1ms", exitFailed, "other hosts can reach this address"},
		{"agent --listen :0 --duration 1ms", exitFailed, "give --token-file or --client-ca"},
		{"agent --listen 127.0.0.1:0 --token-file none --duration 1ms", exitFailed, "--token-file: open none"},
		{"agent --client-ca x", exitUsage, "give --tls-cert and --tls-key, too"},
		{"agent --tls-cert x", exitUsage, "give both"},
		{"agent --every 1s", exitUsage, "want at least the duration of a recording, 10s"},
		{"agent --match [", exitUsage, "want a file name, or a pattern"},
		{"agent --at-once 0", exitUsage, "want 1 or more"},
	})
}
