// Lockcode has functions that hold locks in ways that only their code shows. Tests read the code; it need not run.
package main

import (
	"io"
	"sync"
)

func main() {
	t := &thing{now: work, locker: &sync.Mutex{}}
	noLock(t, nil)
	t.funcField()
	t.funcVariable()
	t.lockerDeferred()
	t.callbacks(nil)
	t.array(1, 2)
	t.arguments(1, 2)
	t.try()
	t.spin()
	t.finishes()
	t.finish()
	t.forever()
	t.releasedByCallback(nil)
	go t.manyDefers(nil)
	t.deferInLoop()
	t.inBackground()
	go t.closes(nil, nil, nil, make(chan bool))
}

//go:noinline
func work() { worked++ }

//go:noinline
func pause() { worked++ }

var worked int

type thing struct {
	name   string
	now    func()
	mu     sync.Mutex
	rw     sync.RWMutex
	locker sync.Locker
}

func (t *thing) Read(b []byte) (int, error)  { return len(t.name), nil }
func (t *thing) Write(b []byte) (int, error) { return len(b), nil }

// noLock calls first and second methods of interfaces, in a loop. They are not Lock and Unlock.
//
//go:noinline
func noLock(w io.ReadWriter, list []io.ReadWriter) {
	for _, e := range list {
		if n, _ := e.Read(nil); n > 0 {
			w.Write(nil)
		}
		work()
	}
	work()
}
