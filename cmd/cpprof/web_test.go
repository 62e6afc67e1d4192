package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

var pageURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+/`)

// TestRecordWeb records a program, looks at the page meanwhile
// and after that, and ends cpprof as Ctrl-C does.
func TestRecordWeb(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	needsTracing(t, target.Pid())
	file := filepath.Join(t.TempDir(), "run.cpprof")
	c := exec.Command(ownCommand(t), "record", "--web", "--no-browser", "-d", "500ms", "-o", file, "-p", strconv.Itoa(target.Pid()))
	said := fixture.Must(c.StderrPipe())(t)
	fixture.Check(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	lines := bufio.NewScanner(said)
	url := ""
	for url == "" && lines.Scan() {
		url = pageURL.FindString(lines.Text())
	}
	if url == "" {
		t.Fatalf("no URL is printed: %v", lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	if text := get(t, url); !strings.Contains(text, "<title>") {
		t.Errorf("the page is %.200q", text)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if r, err := sampledata.Open(file); err == nil && r.Complete() {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the recording does not end")
		}
	}
	if text := get(t, url+"data"); text == "" {
		t.Error("there are no data after the end of the recording")
	}
	fixture.Check(t, c.Process.Signal(os.Interrupt))
	if err := c.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the port is still open")
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer := fixture.Must(http.Get(url))(t)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", url, answer.Status, err, text)
	}
	return string(text)
}
