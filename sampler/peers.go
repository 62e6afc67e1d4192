package sampler

import "fmt"

// A Peer is another process that samples the same target.
type Peer struct {
	PID  int    // 0 if it is in another container
	Name string // name of its program; "" if not known
}

// String returns a text such as "process 4711 (cpprof)".
func (p Peer) String() string {
	if p.PID == 0 {
		return "a process in another container"
	}
	if p.Name == "" {
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("process %d (%s)", p.PID, p.Name)
}
