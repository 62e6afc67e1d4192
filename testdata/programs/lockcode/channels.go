package main

// closes closes a channel in the end. Its frame is so large that the check of the stack's size
// computes an address below it.
//
//go:noinline
func (t *thing) closes(a, b, c <-chan int, done chan bool) {
	defer close(done)
	for {
		select {
		case <-a:
			work()
		case <-b:
		case <-c:
			return
		}
	}
}
