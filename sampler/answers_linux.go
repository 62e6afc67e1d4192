//go:build amd64 || arm64

package sampler

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// An executable may lie on a file system that another program
// serves (FUSE). If that does not answer, nobody can end a
// process that opens the file. So a process of its own opens it
// first, and may be left behind.

const (
	// openVariable is the environment variable of such a
	// process. It has the id of the process whose executable is
	// to be opened.
	openVariable = "CPPROF_OPEN_EXECUTABLE"

	// maxAnswer is how long a file system may take to open a file.
	maxAnswer = 2 * time.Second
)

func init() {
	if pid, err := strconv.Atoi(os.Getenv(openVariable)); err == nil {
		_, _ = os.Open(executableOf(pid, ""))
		os.Exit(0)
	}
}

// A question waits for the answer of a file system.
type question struct {
	answered chan struct{}
	since    time.Time
}

// questions has those without an answer, by device: one process
// waits for each.
var questions = struct {
	sync.Mutex
	open map[uint64]*question
}{open: map[uint64]*question{}}

// ask lets the file system of a process's executable open the
// file. It returns nil if no program serves the file system.
func ask(pid int) (*question, error) {
	i, err := imageOf(executableOf(pid, ""))
	if err != nil || !isServed(pid, i.device) {
		return nil, nil // who opens the file gets the error
	}
	questions.Lock()
	defer questions.Unlock()
	if q := questions.open[i.device]; q != nil {
		return q, nil
	}
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), openVariable+"="+strconv.Itoa(pid))
	if err := c.Start(); err != nil {
		return nil, err
	}
	q := &question{make(chan struct{}), time.Now()}
	questions.open[i.device] = q
	go func() {
		_ = c.Wait()
		questions.Lock()
		defer questions.Unlock()
		delete(questions.open, i.device)
		close(q.answered)
	}()
	return q, nil
}

// answers returns an error if to open the executable of a
// process might take forever.
func answers(pid int) error {
	q, err := ask(pid)
	if q == nil {
		return err
	}
	select {
	case <-q.answered:
		return nil
	case <-time.After(time.Until(q.since.Add(maxAnswer))):
		return &TargetError{PID: pid,
			What: fmt.Sprintf("the file system of its executable has not answered for %v",
				maxAnswer),
			Advice: "look for what serves it (findmnt), or try again"}
	}
}

// isServed reports whether a program serves a file system that a
// process has mounted.
func isServed(pid int, device uint64) bool {
	mounts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	number := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		if f := strings.Fields(before); len(f) > 2 && f[2] == number {
			return strings.HasPrefix(after, "fuse") || strings.HasPrefix(after, "nfs")
		}
	}
	return false
}
