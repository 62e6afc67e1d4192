package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A mcpClient is a client of 'cpprof mcp', which runs as a process.
type mcpClient struct {
	*mcp.ClientSession
	t      *testing.T
	folder string
	server *exec.Cmd
}

func startMCP(t *testing.T) *mcpClient {
	t.Helper()
	folder := t.TempDir()
	server := exec.Command(ownCommand(t), "mcp", "--folder", folder)
	server.Stderr = os.Stderr
	return connectMCP(t, folder, server, &mcp.CommandTransport{Command: server, TerminateDuration: time.Minute})
}

func connectMCP(t *testing.T, folder string, server *exec.Cmd, over mcp.Transport) *mcpClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, over, nil)
	fixture.Check(t, err)
	t.Cleanup(func() { _ = server.Process.Kill() })
	return &mcpClient{session, t, folder, server}
}

// call calls a tool, and returns the texts of its answer.
func (c *mcpClient) call(name string, args map[string]any) (texts []string, failed bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	answer, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	for _, content := range answer.Content {
		texts = append(texts, content.(*mcp.TextContent).Text)
	}
	return texts, answer.IsError
}

// object calls a tool, and returns the JSON of its answer.
func (c *mcpClient) object(name string, args map[string]any) map[string]any {
	c.t.Helper()
	texts, failed := c.call(name, args)
	if failed || len(texts) == 0 {
		c.t.Fatalf("%s: %q", name, texts)
	}
	basisOf(c.t, texts[0])
	var object map[string]any
	fixture.Check(c.t, json.Unmarshal([]byte(texts[0]), &object))
	return object
}

// record makes a recording that is long enough for findings. On
// a busy machine, half a second may have no sample.
func (c *mcpClient) record(pid int, name string) (info map[string]any) {
	c.t.Helper()
	file := filepath.Join(c.folder, strings.TrimSuffix(name, ".cpprof")+".cpprof")
	for seconds := 0.5; ; seconds *= 2 {
		info = c.object("record", map[string]any{"process": fmt.Sprint(pid), "seconds": seconds, "name": name})
		rec := fixture.Must(sampledata.Open(file))(c.t)
		if rec.Samples.Len() >= 30 || seconds > 8 {
			return info
		}
		fixture.Check(c.t, os.RemoveAll(file))
	}
}

// refused checks that a call fails with a text.
func (c *mcpClient) refused(name string, args map[string]any, want string) {
	c.t.Helper()
	texts, failed := c.call(name, args)
	text := strings.Join(texts, "\n")
	if !failed || !strings.Contains(text, want) {
		c.t.Errorf("%s %v: %q, failed %v; want %q", name, args, texts, failed, want)
	}
	text, _, _ = strings.Cut(text, "\n  process ") // processes have their own flags
	if flag := regexp.MustCompile(`(^|[\s('])--?[a-z][a-z-]*`).FindString(text); flag != "" {
		c.t.Errorf("%s %v: %q names the flag %s, which no tool has", name, args, texts, flag)
	}
}

// TestMCP records a program and examines it, as an assistant does.
func TestMCP(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	c := startMCP(t)
	if text := fmt.Sprint(c.object("list_processes", nil)["processes"]); !strings.Contains(text, fmt.Sprintf("pid:%d", target.Pid())) {
		t.Errorf("the processes are %s", text)
	}
	for _, name := range []string{"old", "new.cpprof"} {
		info := c.record(target.Pid(), name)
		if fmt.Sprint(info["pid"]) != fmt.Sprint(float64(target.Pid())) {
			t.Errorf("recorded is process %v, want %d", info["pid"], target.Pid())
		}
	}
	if text := fmt.Sprint(c.object("list_recordings", nil)["recordings"]); !strings.Contains(text, "name:new.cpprof") || strings.Index(text, "name:old.cpprof") < strings.Index(text, "name:new.cpprof") {
		t.Errorf("the recordings are %s", text)
	}
	one, both := map[string]any{"recording": "new.cpprof"}, map[string]any{"recording": "new.cpprof", "against": "old.cpprof"}
	if list := c.object("locks", one)["locks"].([]any); len(list) == 0 {
		t.Error("there is no lock")
	}
	classes := c.object("classes", one)["classes"].([]any)
	class := classes[0].(map[string]any)["class"].(string)
	for name, args := range map[string][]map[string]any{
		"why":     {one, both},
		"report":  {one, {"recording": "new.cpprof", "class": class}, {"recording": "new.cpprof", "class": class, "steps": []map[string]any{{"how": "down", "path": "*"}}}},
		"compare": {both, {"recording": "new.cpprof", "against": "old.cpprof", "class": class}},
	} {
		for _, a := range args {
			if got := c.object(name, a); len(got) < 3 {
				t.Errorf("%s %v: %v", name, a, got)
			}
		}
	}
	if of := c.object("compare", both); of["new"] != "new.cpprof" || of["old"] != "old.cpprof" {
		t.Errorf("compared are %v and %v", of["new"], of["old"])
	}
	hits := classes[0].(map[string]any)["hits"].(map[string]any)
	if _, ok := hits["RUN"].(float64); !ok {
		t.Errorf("hits by typed time are no numbers: %v", hits)
	}
	seen := 0
	for _, text := range c.object("why", one)["text"].([]any) {
		see, ok := text.(map[string]any)["see"].(string)
		if !ok {
			continue
		}
		var args map[string]any
		tool, rest, _ := strings.Cut(see, " ")
		if err := json.Unmarshal([]byte(rest), &args); err != nil {
			t.Fatalf("%q: %v", see, err)
		}
		c.object(tool, args)
		seen++
	}
	if seen == 0 {
		t.Error("no finding says which tool shows it")
	}
	c.refused("record", map[string]any{"process": fmt.Sprint(target.Pid()), "name": "new", "seconds": 0.5}, "new.cpprof already exists: give another name with name")
	c.refused("report", map[string]any{"recording": "new.cpprof", "class": "go:main.nobody"}, "the tool classes lists all")
	c.refused("report", map[string]any{"recording": "new.cpprof", "steps": []map[string]any{{"how": "down", "path": "* >>"}}}, "the step down")
	c.refused("why", map[string]any{"recording": "new.cpprof", "half": true}, "half: want without")
	c.refused("record", map[string]any{"process": "no-such-program"}, "no Go program of this name")
	c.refused("record", map[string]any{"process": "1", "seconds": 1e6}, "want 0.1 to 600")
	c.refused("why", map[string]any{"recording": "none.cpprof"}, `recording "none.cpprof": there is none of this name; list_recordings`)
	c.refused("report", map[string]any{"recording": "new.cpprof", "steps": []map[string]any{{"how": "output", "path": "x"}}}, "want down")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A client can't read or write outside of the folder.
func TestMCPStaysInItsFolder(t *testing.T) {
	c := startMCP(t)
	outside := filepath.Join(t.TempDir(), "outside.cpprof")
	fixture.Check(t, undumpFile("testdata/bob.txt", outside))
	if err := os.Symlink(outside, filepath.Join(c.folder, "link.cpprof")); err != nil {
		t.Skip(err)
	}
	fixture.Check(t, os.Mkdir(filepath.Join(c.folder, "inner.cpprof"), 0o777))
	if err := os.Symlink(filepath.Join(outside, "SampleData"), filepath.Join(c.folder, "inner.cpprof", "SampleData")); err != nil {
		t.Fatal(err)
	}
	relative := fixture.Must(filepath.Rel(c.folder, outside))(t)
	for _, name := range []string{outside, relative, "link.cpprof", "inner.cpprof", "", "--help", "-"} {
		c.refused("classes", map[string]any{"recording": name}, "recording")
		c.refused("why", map[string]any{"recording": "none.cpprof", "against": name}, "recording")
	}
	for _, name := range []string{"../x", "/tmp/x", "-f", "a/b", ".x"} {
		c.refused("record", map[string]any{"process": "1", "name": name}, "want letters")
	}
}

// If the call is cancelled, the client goes away or the server
// is asked to end, the recording ends, is whole, and the program
// lives on.
func TestMCPEndsRecordings(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	needsTracing(t, target.Pid())
	program := ownCommand(t)
	for _, way := range []string{"cancelled", "gone", "terminated"} {
		t.Run(way, func(t *testing.T) { endsRecording(t, target, program, way) })
	}
}

func endsRecording(t *testing.T, target *fixture.Running, program, way string) {
	folder := t.TempDir()
	server := exec.Command(program, "mcp", "--folder", folder)
	in, err := server.StdinPipe()
	fixture.Check(t, err)
	out := fixture.Must(server.StdoutPipe())(t)
	fixture.Check(t, server.Start())
	c := connectMCP(t, folder, server, &mcp.IOTransport{Reader: out, Writer: in})
	file := filepath.Join(folder, "long.cpprof")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "record", Arguments: map[string]any{"process": fmt.Sprint(target.Pid()), "seconds": 500, "name": "long"}})
	}()
	eventually(t, "the recording begins", func() bool {
		r, err := sampledata.Open(file)
		return err == nil && r.Samples.Len() > 0
	})
	switch way {
	case "cancelled":
		cancel()
	case "gone":
		err = in.Close()
	case "terminated":
		err = server.Process.Signal(syscall.SIGTERM)
	}
	fixture.Check(t, err)
	eventually(t, "the recording ends", func() bool {
		r, err := sampledata.Open(file)
		return err == nil && r.Complete() && r.End.Cause == sampledata.EndInterrupted
	})
	target.Lives(t)
	if way != "cancelled" {
		defer time.AfterFunc(time.Minute, func() { _ = server.Process.Kill() }).Stop()
		if err := server.Wait(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
