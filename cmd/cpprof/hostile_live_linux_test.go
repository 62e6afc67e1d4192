package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// hostileProgram returns the path of a program whose functions,
// types, variables, labels and file have hostile names.
func hostileProgram(t *testing.T) string {
	t.Helper()
	built := fixture.Must(os.ReadFile(fixture.Build(t, "renamed", "-ldflags=-compressdwarf=false")))(t)
	const end = "IsLongEnoughToBeReplacedByAnotherOne"
	for _, begin := range []string{"aTypeWhoseName", "aFieldWhoseName", "aVariableWhoseName", "aLabelWhoseText", "aWaiterWhoseName", "aRunnerWhoseName"} {
		long := begin + end
		if !bytes.Contains(built, []byte(long)) {
			t.Fatalf("the program has no %s", long)
		}
		built = bytes.ReplaceAll(built, []byte(long), []byte(hostile+long[len(hostile):]))
	}
	path := filepath.Join(t.TempDir(), "x"+hostile)
	fixture.Check(t, os.WriteFile(path, built, 0o777))
	return path
}

// Whatever a running program and its functions, types, labels
// and arguments are called, nothing but text and line ends
// reaches the terminal.
func TestHostileProgramsLong(t *testing.T) {
	fixture.Long(t)
	target := fixture.Start(t, hostileProgram(t), hostile)
	needsTracing(t, target.Pid())
	t.Chdir(t.TempDir())
	pid, renamed := fmt.Sprint(target.Pid()), 0
	for _, args := range [][]string{
		{"record", "-d", "300ms", "-p", pid},
		{"record", "-d", "300ms", "-o", "record" + hostile, "-p", pid},
		{"record", "-d", "300ms", "--backend", "delve", "-o", "delve", "-p", pid},
		{"record", "-d", "300ms", "-o", "launched", "--", target.Path, hostile, "briefly"},
		{"top", "-n", "2", "-i", "200ms", "-p", pid},
		{"top", "-n", "2", "-i", "200ms", "--set", "classes=label:key " + hostile, "-p", pid},
		{"dump-goroutines", "-p", pid},
		{"dump-goroutines", "--json", "-p", pid},
		{"dump-goroutines", "-p", "x" + hostile},
		{"dump-goroutines", "-p", hostile},
		{"dump-goroutines"},
		{"top", "-p"},
		{"record"},
		{"__complete", "record", "-p", ""},
		{"__complete", "record", "-p", pid},
	} {
		t.Run(strings.Join(args[:min(len(args), 2)], " "), func(t *testing.T) {
			got := call(t, args, map[string]string{})
			all := strings.ReplaceAll(got.out, "\t", " ") + got.err // a tab is between a completion and its description
			checkTame(t, all)
			if strings.Contains(all, "INJECTED") {
				renamed++
			}
		})
	}
	if renamed < 10 {
		t.Errorf("only %d commands have shown a hostile name", renamed)
	}
	for _, recording := range []string{"record" + hostile, "delve", "launched"} {
		for _, args := range [][]string{{"report", recording}, {"classes", recording}, {"locks", recording}, {"info", recording}} {
			got := call(t, args, map[string]string{})
			if got.status != exitFine {
				t.Errorf("%q: %s", args, got.err)
			}
			checkTame(t, got.out+got.err)
		}
	}
}

// What the agent and the tools of an assistant say of such a
// program is nothing but text; in JSON and in profiles its names
// are as they are.
func TestHostileProgramsServedLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	target := fixture.Start(t, hostileProgram(t), hostile)
	needsTracing(t, target.Pid())
	pid, name := fmt.Sprint(target.Pid()), filepath.Base(target.Path)
	a := startAgent(t, "--max-duration", "300ms", "--match", "x*")
	_, body := a.get("/discovery", http.StatusOK)
	checkTame(t, string(body))
	var groups []struct{ Labels map[string]string }
	fixture.Check(t, json.Unmarshal(body, &groups))
	if !slices.ContainsFunc(groups, func(g struct{ Labels map[string]string }) bool {
		return g.Labels["pid"] == pid && g.Labels["service_name"] == name
	}) {
		t.Errorf("the program is not among %q", groups)
	}
	var functions []string
	for _, f := range a.parsed("/debug/pprof/wall?pid=" + pid).Function {
		functions = append(functions, f.Name)
	}
	if !strings.Contains(strings.Join(functions, "\t"), hostile) {
		t.Errorf("the functions are %q", functions)
	}
	for path, status := range map[string]int{
		"/metrics": http.StatusOK, "/" + url.PathEscape(hostile): http.StatusNotFound,
		"/debug/pprof/wall?pid=" + url.QueryEscape(hostile):                     http.StatusBadRequest,
		"/debug/pprof/wall?pid=" + pid + "&seconds=" + url.QueryEscape(hostile): http.StatusBadRequest,
		"/debug/pprof/wall?pid=" + pid:                                          http.StatusTooManyRequests,
	} {
		_, body := a.get(path, status)
		checkTame(t, string(body))
	}

	c := startMCP(t)
	listed := c.object("list_processes", nil)["processes"].([]any)
	if !strings.Contains(fmt.Sprint(listed), hostile) {
		t.Errorf("the program is not among %q", listed)
	}
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"list_processes", nil},
		{"record", map[string]any{"process": name, "seconds": 0.3, "name": "one"}},
		{"record", map[string]any{"process": pid, "seconds": 0.3, "name": "one"}},
		{"classes", map[string]any{"recording": "one.cpprof"}},
	} {
		texts, _ := c.call(call.tool, call.args)
		checkTame(t, strings.Join(texts, "\n"))
	}
}
