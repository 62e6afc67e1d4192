package synthetic

import (
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Served makes a recording of a program that serves requests.
// Each has a goroutine, begins three samples after the one
// before, and takes 4 samples. One of five takes 16: for 12 of
// these it waits for a lock that goroutine 1 holds, which
// sleeps. The names of all functions end in a text.
func Served(requests int, end string) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{GOMAXPROCS: 2})
	at := func(parent sampledata.NodeID, function string) (sampledata.FunctionID, sampledata.NodeID) {
		f := b.Function(sampledata.Function{Name: "main." + function + end})
		return f, b.Node(sampledata.Node{Parent: parent, Function: f, Line: 1})
	}
	send, sends := at(sampledata.NoStack, "send")
	hold, holds := at(sampledata.NoStack, "hold")
	_, handles := at(sends, "handle")
	_, waits := at(handles, "lock")
	first := b.Goroutine(sampledata.Goroutine{ID: 1, Start: hold})
	holders := b.HolderSet([]sampledata.GoroutineID{first})
	changes := make([][]sampledata.Change, 3*requests+40)
	changes[0] = []sampledata.Change{{Goroutine: first,
		State: sampledata.State{Stack: holds, Run: sampledata.Waiting, Reason: "sleep"}}}
	for i := range requests {
		g := b.Goroutine(sampledata.Goroutine{ID: int64(i + 2), Start: send})
		begin, end := 3*i+2, 3*i+6
		add := func(sample int, c sampledata.Change) {
			c.Goroutine = g
			changes[sample] = append(changes[sample], c)
		}
		add(begin, sampledata.Change{State: sampledata.State{Stack: handles, Run: sampledata.Running}})
		if i%5 == 0 {
			add(end, sampledata.Change{State: sampledata.State{Stack: waits, Run: sampledata.Blocked,
				Reason: "sync.Mutex.Lock", Lock: 0x10, Holders: holders, Evidence: sampledata.Inferred}})
			end += 12
		}
		add(end, sampledata.Change{Gone: true})
	}
	for i, c := range changes {
		s := sampledata.Sample{Time: time.Duration(i+1) * interval}
		if err := b.Sample(s, c); err != nil {
			panic(err) // can't happen: the samples are valid
		}
	}
	err := b.Finish(sampledata.End{Cause: sampledata.EndDuration,
		Time: time.Duration(len(changes)+1) * interval})
	if err != nil {
		panic(err)
	}
	return b.Recording()
}
