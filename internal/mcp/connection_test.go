package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler"
)

// A wire is the client's side of a server.
type wire struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func startServer(t *testing.T) *wire {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), in, out, Options{
			Program: "/no/such/program", Version: "1", Folder: t.TempDir(), Describe: func(*sampler.Process) string { return "" },
		})
	}()
	w := &wire{t, send, bufio.NewReader(receive)}
	t.Cleanup(func() {
		send.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	w.receive()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatalf("the server does not listen any more: %v", err)
	}
}

// A reply is a message of the server.
type reply struct {
	size  int
	ID    json.RawMessage
	Error *struct {
		Code    int
		Message string
	}
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
}

func (w *wire) receive() (r reply) {
	w.t.Helper()
	line := fixture.Must(w.out.ReadString('\n'))(w.t)
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		w.t.Fatalf("%.200s: %v", line, err)
	}
	r.size = len(line)
	return r
}

// lives checks that the server still answers.
func (w *wire) lives() {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	if r := w.receive(); string(r.ID) != `"alive"` || r.Error != nil {
		w.t.Errorf("a ping is answered by %+v", r)
	}
}

// A line that is no message is refused, and the server goes on.
func TestMalformedLines(t *testing.T) {
	w := startServer(t)
	long := strings.Repeat("x", 5<<20)
	for _, c := range []struct {
		line, id string
		code     int
	}{
		{"hello", "null", -32700},
		{"{", "null", -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}}`, "null", -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, "null", -32700},
		{"\x00\xff", "null", -32700},
		{strings.Repeat("[", 20000), "null", -32700},
		{long, "null", -32700},
		{strings.Repeat(" x", 9<<20), "null", -32600},
		{"7", "null", -32600},
		{"null", "null", -32600},
		{"[]", "null", -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{`{"jsonrpc":"1.0","id":3,"method":"ping"}`, "3", -32600},
		{`{"jsonrpc":"2.0","id":"a","method":7}`, `"a"`, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":5,"method":"` + long + `"}`, "5", -32601},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":"` + long + `"}`, "6", -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + long + `"}}`, "7", -32602},
	} {
		w.send(c.line)
		r := w.receive()
		if string(r.ID) != c.id || r.Error == nil || r.Error.Code != c.code || r.size > maxAnswer {
			t.Errorf("%.60q is answered in %d bytes by %.200s", c.line, r.size, fmt.Sprintf("%s %+v", r.ID, r.Error))
		}
		w.lives()
	}
	// No answer is due to these.
	for _, line := range []string{"", "  \r", `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","method":"no/such"}`} {
		w.send(line)
		w.lives()
	}
}

// What a client sends comes back within the bound.
func TestLongArguments(t *testing.T) {
	w := startServer(t)
	long := strings.Repeat("é", 1<<19)
	for tool, args := range map[string]string{
		"classes": `{"recording":"` + long + `"}`,
		"record":  `{"process":"1","name":"` + long + `"}`,
		"report":  `{"recording":"x","steps":[{"how":"` + long + `","path":"x"}]}`,
		"locks":   `{"recording":"x","` + long + `":1}`,
		"why":     `{"recording":["` + long + `"]}`,
	} {
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`)
		if r := w.receive(); r.size > maxAnswer || r.Error == nil && !r.Result.IsError {
			t.Errorf("%s is answered in %d bytes, as an error: %v", tool, r.size, r.Result.IsError)
		}
	}
	w.lives()
}

// A folder that is not there is named, with what to do.
func TestNoFolder(t *testing.T) {
	err := Serve(t.Context(), strings.NewReader(""), io.Discard, Options{Folder: "/no/such"})
	if err == nil || !strings.Contains(err.Error(), "such: ") || !strings.Contains(err.Error(), ": make the folder") {
		t.Error(err)
	}
}
