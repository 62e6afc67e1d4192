//go:build linux && (amd64 || arm64)

package halt

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Numbers translates the numbers that a process knows its threads by into those that the sampler knows them by. They
// differ when the process runs in a container.
type Numbers struct {
	p     *Process
	same  bool
	outer map[int]int
}

// NewNumbers finds out whether the process numbers its threads as the sampler does.
func NewNumbers(p *Process) *Numbers {
	inner, ok := innermost(p.Path("status"))
	return &Numbers{p: p, same: !ok || inner == p.pid, outer: map[int]int{}}
}

// Outer gives the sampler's number of a thread; 0 where there is no such thread.
func (n *Numbers) Outer(tid int) int {
	if n.same || tid == 0 {
		return tid
	}
	if outer, ok := n.outer[tid]; ok {
		// Numbers are used again; a look at the thread's own tells whether that is still the same one.
		if inner, ok := innermost(n.p.Path("task/" + strconv.Itoa(outer) + "/status")); ok && inner == tid {
			return outer
		}
	}
	clear(n.outer)
	tids, err := n.p.Threads()
	if err != nil {
		return 0
	}
	for _, outer := range tids {
		if inner, ok := innermost(n.p.Path(fmt.Sprintf("task/%d/status", outer))); ok {
			n.outer[inner] = outer
		}
	}
	return n.outer[tid]
}

// innermost gives the number of a process or thread in its own namespace.
func innermost(status string) (int, bool) {
	b, _ := os.ReadFile(status)
	_, after, ok := bytes.Cut(b, []byte("\nNSpid:"))
	if !ok {
		return 0, false
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(string(f[len(f)-1]))
	return n, err == nil
}
