package locks

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// ChannelNames names channels, and other things that are shared
// but no locks. A function may make a channel each time that it
// is called, so not all of them are named in the recording.
// Goroutines that wait at the same stack wait for the same
// variable.
type ChannelNames struct {
	byAddress map[uint64]sampledata.LockName // the last, which may be a better one
	byStack   map[sampledata.NodeID]sampledata.LockName
}

// NewChannelNames reads the names of a recording.
func NewChannelNames(r *sampledata.Recording) *ChannelNames {
	n := &ChannelNames{make(map[uint64]sampledata.LockName),
		make(map[sampledata.NodeID]sampledata.LockName)}
	if len(r.LockNames) == 0 {
		return n
	}
	for _, name := range r.LockNames {
		n.byAddress[name.Address] = name
	}
	for _, run := range r.Runs.All() {
		name := n.byAddress[run.Lock]
		if name.Name != "" && views.DoingOf(run).Waits() {
			if other, known := n.byStack[run.Stack]; known && other.Name != name.Name {
				name = sampledata.LockName{} // it may be either
			}
			n.byStack[run.Stack] = name
		}
	}
	return n
}

// At returns the name of what goroutines wait for at a stack,
// and at an address; the zero LockName if it is not known.
func (n *ChannelNames) At(stack sampledata.NodeID, address uint64) sampledata.LockName {
	if name := n.byAddress[address]; name.Name != "" {
		return name
	}
	return n.byStack[stack]
}
