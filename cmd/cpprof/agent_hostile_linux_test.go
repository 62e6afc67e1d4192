package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// recorders returns the processes in which an agent records one
// of the programs.
func (a *runningAgent) recorders() (pids []int) {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", a.Process.Pid))
	for _, path := range list {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			var pid int
			fmt.Sscan(word, &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// Programs whose executables are made to harm are recorded, or
// refused. Whatever happens to the process that records one of
// them, the agent answers for another program.
func TestAgentHostileExecutablesLong(t *testing.T) {
	fixture.Long(t)
	good := fixture.Build(t, "mutex")
	healthy := fixture.Start(t, good)
	needsTracing(t, healthy.Pid())
	const unit = "\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x08\x01" // of DWARF 4
	nested := append([]byte(unit), bytes.Repeat([]byte{2}, 30<<20)...)
	binary.LittleEndian.PutUint32(nested, uint32(len(nested)-4))
	variants := map[string]map[string]fixture.Section{
		"nested": {".debug_info": {Content: nested},
			// units, and blocks without attributes: each has others below
			".debug_abbrev": {Content: []byte("\x01\x11\x01\x00\x00\x02\x0b\x01\x00\x00\x00")}},
		"names":    {".strtab": {Content: bytes.Repeat([]byte{'A'}, 8<<20)}},
		"no units": {".debug_info": {Content: []byte("garbage")}},
	}
	var hostile []*fixture.Running
	for _, sections := range variants {
		hostile = append(hostile, fixture.Start(t, fixture.Changed(t, good, sections)))
	}
	a := startAgent(t, "--max-duration", "2s", "--every", "2s", "--at-once", "4", "--max-cpu", "0", "--max-overhead", "100%", "--match", "mutex")
	wall := func(target *fixture.Running) string {
		return fmt.Sprintf("/debug/pprof/wall?pid=%d&seconds=0.2", target.Pid())
	}
	for _, target := range append(hostile, healthy) {
		a.parsed(wall(target))
	}

	status := make(chan int, 1)
	go func() {
		for {
			answer, _, err := a.fetch(t.Context(), fmt.Sprintf("/debug/pprof/wall?pid=%d&seconds=2", hostile[0].Pid()))
			if err != nil {
				status <- 0
				return
			}
			if answer.StatusCode != http.StatusTooManyRequests { // so soon
				status <- answer.StatusCode
				return
			}
		}
	}()
	var recorders []int
	eventually(t, "a process records it", func() bool {
		recorders = a.recorders()
		return len(recorders) == 1
	})
	fixture.Check(t, syscall.Kill(recorders[0], syscall.SIGKILL))
	if got := <-status; got != http.StatusInternalServerError {
		t.Errorf("the recording whose process crashed was answered with %d", got)
	}
	eventually(t, "another program is recorded", func() bool {
		answer, _, err := a.fetch(t.Context(), wall(healthy))
		return err == nil && answer.StatusCode == http.StatusOK
	})
	for _, target := range hostile {
		if traced := tracedThreads(target.Pid()); traced != "" {
			t.Errorf("still traced: %s", traced)
		}
	}
}
