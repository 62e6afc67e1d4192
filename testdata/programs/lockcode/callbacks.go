package main

//go:noinline
func (t *thing) funcField() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now()
	work()
}

var hook = func() {}

//go:noinline
func (t *thing) funcVariable() {
	t.rw.RLock()
	hook()
	work()
	t.rw.RUnlock()
}

//go:noinline
func (t *thing) lockerDeferred() {
	t.locker.Lock()
	defer t.locker.Unlock()
	t.now()
	work()
}

// callbacks calls one after the other.
//
//go:noinline
func (t *thing) callbacks(fs []func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range fs {
		f()
		work()
	}
}

// array stores to an element of a local array, which does not change the arguments above it.
//
//go:noinline
func (t *thing) array(i, v int) int {
	t.mu.Lock()
	var digits [16]byte
	hook()
	digits[i&15] = byte(v)
	hook()
	work()
	t.mu.Unlock()
	return int(digits[v&15])
}

// arguments likewise. What lies below the arguments may change.
//
//go:noinline
func (t *thing) arguments(i, v int) int {
	var words [16]int
	hook()
	words[i&15] = v
	t.mu.Lock()
	hook()
	work()
	t.mu.Unlock()
	return words[v&15]
}

//go:noinline
func (t *thing) forever() {
	for {
		t.mu.Lock()
		t.now()
		work()
		t.mu.Unlock()
		pause()
	}
}

// releasedByCallback can't know that f releases the lock.
//
//go:noinline
func (t *thing) releasedByCallback(f func()) {
	t.mu.Lock()
	f()
	work()
}

// finishes calls a function that releases the lock.
//
//go:noinline
func (t *thing) finishes() {
	t.mu.Lock()
	t.now()
	t.finish()
	pause()
}

//go:noinline
func (t *thing) finish() {
	work()
	t.mu.Unlock()
}

//go:noinline
func (t *thing) try() {
	if !t.mu.TryLock() {
		pause()
		return
	}
	work()
	t.mu.Unlock()
}

// spin does not hold the lock while it pauses.
//
//go:noinline
func (t *thing) spin() {
	for !t.mu.TryLock() {
		pause()
	}
	work()
	t.mu.Unlock()
}

// manyDefers has more deferred calls than the compiler puts at the ends of the function.
//
//go:noinline
func (t *thing) manyDefers(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer pause()
	defer pause()
	defer pause()
	defer pause()
	defer pause()
	defer pause()
	defer pause()
	defer pause()
	hook()
	work()
}

//go:noinline
func (t *thing) deferInLoop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range t.name {
		defer pause()
	}
	hook()
	work()
}

// inBackground lets a new goroutine release the lock.
//
//go:noinline
func (t *thing) inBackground() {
	t.mu.Lock()
	go func() {
		work()
		t.mu.Unlock()
	}()
	pause()
}
