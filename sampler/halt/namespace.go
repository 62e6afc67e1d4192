//go:build linux && (amd64 || arm64)

package halt

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
	inner := innermost(p.Path("status"))
	return &Numbers{p: p, same: inner == 0 || inner == p.pid, outer: map[int]int{}}
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
		if innermost(threadFile(n.p.pid, outer, "status")) == tid {
			return outer
		}
	}
	clear(n.outer)
	tids, err := n.p.Threads()
	if err != nil {
		return 0
	}
	for _, outer := range tids {
		n.outer[innermost(threadFile(n.p.pid, outer, "status"))] = outer
	}
	return n.outer[tid]
}

// innermost returns the id of a process or thread in its
// innermost namespace, as its status file has it; 0 if that is
// not known.
func innermost(status string) int { return statusField(status, "NSpid") }
