// Lockcode has functions that hold locks in ways that only their code shows. Tests read the code; it need not run.
package main

import "io"

func main() {
	t := &thing{}
	noLock(t, nil)
}

//go:noinline
func work() { worked++ }

var worked int

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

type thing struct{ name string }

func (t *thing) Read(b []byte) (int, error)  { return len(t.name), nil }
func (t *thing) Write(b []byte) (int, error) { return len(b), nil }
