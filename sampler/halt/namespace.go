//go:build linux && (amd64 || arm64)

package halt

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Numbers translates thread ids from the numbers that the
// process itself sees to those that the sampler sees. They
// differ if the process runs in a container.
type Numbers struct {
	p     *Process
	same  bool
	outer map[int]int
}

// NewNumbers finds out whether the process and the sampler see
// the same thread ids.
func NewNumbers(p *Process) *Numbers {
	inner, ok := innermost(p.Path("status"))
	return &Numbers{p: p, same: !ok || inner == p.pid, outer: map[int]int{}}
}

// Outer returns the sampler's id of a thread, given the id that
// the process sees; 0 if there is no such thread.
func (n *Numbers) Outer(tid int) int {
	if n.same || tid == 0 {
		return tid
	}
	if outer, ok := n.outer[tid]; ok {
		// Thread ids are reused: check that this thread still
		// has the same id inside.
		if inner, ok := innermost(n.p.Path("task/" + strconv.Itoa(outer) + "/status")); ok &&
			inner == tid {
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

// innermost returns the id of a process or thread in its
// innermost namespace, as its status file has it.
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
