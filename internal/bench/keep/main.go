// Keep counts how many stalls of a server 'cpprof record --keep'
// has, and what that costs beside the flight recorder of Go's
// execution traces. The server (testdata/programs/stalls) stalls
// at random times, and times its own requests:
//
//	go run ./internal/bench/keep            20 stalls; five minutes
//	go run ./internal/bench/keep -stalls 3
//
// It ends with status 1 if a stall is missing, or if its cause
// is not in the first finding, and with status 2 if it fails.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

var (
	stalls = flag.Int("stalls", 20, "how many stalls there are")
	keep   = flag.Duration("keep", 4*time.Second, "how much is kept before each")
	when   = flag.String("when", "calls(main.(*server).handle) > 400ms", "what is a stall")
)

func main() {
	flag.Parse()
	tool.Main("keep", run)
}

func run() (good bool, err error) {
	folder, err := tool.Build("cmd/cpprof", "testdata/programs/stalls")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	fmt.Printf("%-8s %10s %12s %12s %14s %14s\n", "", "requests", "p50", "p99", "CPU/request", "recorder's CPU")
	var kinds []string
	for _, mode := range []string{"alone", "keep", "flight"} {
		s, err := serve(folder, mode)
		if err != nil {
			return false, fmt.Errorf("%s: %w", mode, err)
		}
		fmt.Printf("%-8s %10d %12v %12v %14v %14v\n", mode, s.requests, s.p50, s.p99,
			s.cpu/time.Duration(max(1, s.requests)), s.recorder)
		if mode == "keep" {
			kinds = s.kinds
		}
	}
	return check(folder, kinds)
}

// A served is what a server prints when it ends.
type served struct {
	kinds         []string // of the stalls
	requests      int
	p50, p99      time.Duration
	cpu, recorder time.Duration
}

// serve runs a server to its end.
func serve(folder, mode string) (s served, err error) {
	cmd := exec.Command(filepath.Join(folder, "stalls"), fmt.Sprint(*stalls), mode)
	cmd.Stderr = os.Stderr
	server, _, err := tool.Ready(cmd)
	if err != nil {
		return s, err
	}
	defer server.Process.Kill()
	var recorder *exec.Cmd
	var recorded func() error
	if mode == "keep" {
		recorder = exec.Command(filepath.Join(folder, "cpprof"), "record", "--keep", keep.String(), "--when", *when,
			"-n", fmt.Sprint(*stalls+1), "-o", filepath.Join(folder, "run.cpprof"), "-p", fmt.Sprint(server.Process.Pid))
		if recorded, err = tool.Begin(recorder); err != nil {
			return s, err
		}
	}
	lines := bufio.NewScanner(server.Out)
	for lines.Scan() {
		var p50, p99 int64
		if n, _ := fmt.Sscanf(lines.Text(), "done %d %d %d", &s.requests, &p50, &p99); n == 3 {
			s.p50, s.p99 = time.Duration(p50), time.Duration(p99)
			continue
		}
		s.kinds = append(s.kinds, lines.Text())
	}
	if err := lines.Err(); err != nil {
		return s, err
	}
	if err := server.Wait(); err != nil {
		return s, err
	}
	s.cpu = server.ProcessState.UserTime() + server.ProcessState.SystemTime()
	if recorder != nil {
		if err := recorded(); err != nil {
			return s, err
		}
		s.recorder = recorder.ProcessState.UserTime() + recorder.ProcessState.SystemTime()
	}
	return s, nil
}

// check prints what the recordings lack, and reports whether
// they have all stalls. The last one is of the server's end.
func check(folder string, kinds []string) (good bool, err error) {
	good = true
	kept, named := 0, 0
	for i, kind := range kinds {
		name := "run.cpprof"
		if i > 0 {
			name = fmt.Sprintf("run.%d.cpprof", i+1)
		}
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			good = false
			continue
		}
		kept++
		out, err := exec.Command(filepath.Join(folder, "cpprof"), "why", "--json", path).Output()
		if err != nil {
			return false, fmt.Errorf("why %s: %w", name, err)
		}
		var answer struct{ Findings []json.RawMessage }
		if err := json.Unmarshal(out, &answer); err != nil {
			return false, err
		}
		if len(answer.Findings) > 0 && strings.Contains(string(answer.Findings[0]), "main.(*server)."+kind) {
			named++
			continue
		}
		good = false
		fmt.Printf("%s: the first finding does not name main.(*server).%s\n", name, kind)
	}
	fmt.Printf("%d of %d stalls kept, %d with their cause first\n", kept, len(kinds), named)
	return good, nil
}
