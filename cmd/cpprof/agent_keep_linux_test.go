package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/agent"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// kept returns what the agent keeps, the newest first.
func (a *runningAgent) kept() []agent.Kept {
	a.t.Helper()
	var list struct{ Kept []agent.Kept }
	_, body := a.get("/kept", http.StatusOK)
	fixture.Check(a.t, json.Unmarshal(body, &list))
	return list.Kept
}

// unpacked downloads a recording, and opens it.
func (a *runningAgent) unpacked(name string) *sampledata.Recording {
	a.t.Helper()
	_, body := a.get("/kept/"+name+".tar", http.StatusOK)
	dir, from := a.t.TempDir(), tar.NewReader(bytes.NewReader(body))
	fixture.Check(a.t, os.Mkdir(filepath.Join(dir, name), 0o700))
	for {
		h, err := from.Next()
		if err == io.EOF {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(from)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, h.Name), text, 0o600)
		}
		fixture.Check(a.t, err)
	}
	return fixture.Must(sampledata.Open(filepath.Join(dir, name)))(a.t)
}

// ownStalls returns the program stalls by a name that no other
// test's agent serves, and that name.
func ownStalls(t *testing.T) (program, name string) {
	t.Helper()
	name = "stalls-" + t.Name()
	program = filepath.Join(t.TempDir(), name)
	fixture.Check(t, os.Link(fixture.Build(t, "stalls"), program))
	return program, name
}

// The agent keeps the seconds before a stall and the end of each
// of two servers, and those that a client or a signal asks for.
func TestAgentKeepsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	program, name := ownStalls(t)
	// On a busy machine, the agent may have missed the first stall.
	dir, first := t.TempDir(), fixture.Start(t, program, "2")
	needsTracing(t, first.Pid())
	second := fixture.Start(t, program, "1", "panic")
	a := startAgent(t, "--keep", "2s", "--when", "calls(main.(*server).handle) > 400ms", "--match", name, "-o", filepath.Join(dir, "kept"))
	reasons := func(pid int, reason string) (found string) {
		eventually(t, reason, func() bool {
			for _, k := range a.kept() {
				if k.PID == pid && strings.HasPrefix(k.Reason, reason) {
					found = k.Name
				}
			}
			return found != ""
		})
		return found
	}
	// it "took" a time, or "has taken" it so far
	for pid, reason := range map[int]string{first.Pid(): "main.(*server).handle ", second.Pid(): "the program ended"} {
		name := reasons(pid, reason)
		if r := a.unpacked(name); r.Samples.Len() == 0 || r.Header.PID != int64(pid) || !r.Complete() {
			t.Errorf("%s: %d samples of process %d, ended %+v", name, r.Samples.Len(), r.Header.PID, r.End)
		}
	}
	reasons(first.Pid(), "the program ended")

	third := fixture.Start(t, program, "9")
	pid := strconv.Itoa(third.Pid())
	var one agent.Kept
	eventually(t, "it keeps what is asked for", func() bool {
		answer := fixture.Must(http.Post(a.url+"/keep?pid="+pid, "", nil))(t)
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&one) == nil
	})
	if r := a.unpacked(one.Name); one.PID != third.Pid() || one.Reason != "a client asked" || r.Header.PID != int64(third.Pid()) {
		t.Errorf("got %+v", one)
	}
	fixture.Check(t, a.Process.Signal(syscall.SIGUSR1))
	reasons(third.Pid(), "it was asked for")
	a.get("/kept/../../etc/passwd.tar", http.StatusNotFound)
	a.get("/kept/x.tar", http.StatusNotFound)
	a.get("/kept/"+one.Name, http.StatusNotFound)
	for _, command := range []string{"discovery", "kept"} {
		if _, body := a.get("/"+command, http.StatusOK); strings.Contains(string(body), "/cpprof.test") {
			t.Errorf("it serves its own processes: %s", body)
		}
	}
	fixture.Check(t, a.Process.Signal(os.Interrupt))
	if err := a.Wait(); err != nil {
		t.Error(err)
	}
	there := fixture.Must(filepath.Glob(filepath.Join(dir, "kept", "*.cpprof")))(t)
	again := startAgent(t, "--keep", "2s", "--match", "no-such-program", "-o", filepath.Join(dir, "kept"))
	if list := again.kept(); len(list) != len(there) {
		t.Errorf("another agent has %d, want %d", len(list), len(there))
	}
}

// What was kept of a program is for the user who could trace it,
// also when it has ended; without a token, for nobody else but
// root.
func TestAgentKeepsForUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can ask as another user")
	}
	t.Parallel()
	const daemon = 1
	program, pattern := ownStalls(t)
	theirs := startAs(t, program, daemon, daemon, "0")
	needsTracing(t, theirs.Pid())
	a := startAgent(t, "--keep", "1s", "--match", pattern, "-o", filepath.Join(t.TempDir(), "kept"))
	var name string
	eventually(t, "it is kept", func() bool {
		for _, k := range a.kept() {
			if k.PID == theirs.Pid() {
				name = k.Name
			}
		}
		return name != ""
	})
	as := func(uid int, path string) (status int, body string) {
		dial := func(_ context.Context, network, address string) (net.Conn, error) {
			return dialAs(uid, uid, network, address)
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
		answer := fixture.Must(client.Get(a.url + path))(t)
		defer answer.Body.Close()
		text := fixture.Must(io.ReadAll(answer.Body))(t)
		return answer.StatusCode, string(text)
	}
	if status, body := as(daemon, "/kept"); status != http.StatusOK || !strings.Contains(body, name) {
		t.Errorf("its user gets %d: %s", status, body)
	}
	if status, _ := as(daemon, "/kept/"+name+".tar"); status != http.StatusOK {
		t.Errorf("its user gets %d", status)
	}
	const other = 2 // in /etc/passwd
	if status, body := as(other, "/kept"); status != http.StatusOK || strings.Contains(body, "stalls") {
		t.Errorf("another user gets %d: %s", status, body)
	}
	if status, _ := as(other, "/kept/"+name+".tar"); status != http.StatusNotFound {
		t.Errorf("another user gets %d", status)
	}
}

func TestAgentKeepRefuses(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	fixture.Check(t, os.Mkdir(open, 0o755))
	refuses(t, []refusal{
		{"agent -o x", exitUsage, "--output goes with --keep"},
		{"agent --when x", exitUsage, "--when goes with --keep"},
		{"agent --keep 1ms", exitUsage, "want a time from 1s to 1h"},
		{"agent --keep 5s --max-memory 20MB", exitUsage, "want at least 64MB"},
		{"agent --keep 5s -o " + open, exitFailed, "other users can look into " + open},
		{"agent --keep 5s -o /no/such/kept", exitFailed, "no such file"},
	})
}
