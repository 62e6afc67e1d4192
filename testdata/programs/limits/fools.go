package main

// byNumber takes the lock if a number says so: no test of a byte.
//
//go:noinline
func (l *lock) byNumber(n int32, me int64) {
	if n == 1 {
		l.mu.Lock()
		l.r.set(me)
	}
	work()
	if n == 1 {
		l.r.set(0)
		l.mu.Unlock()
	}
}

// A guard gives its lock back unless that was done already.
type guard struct {
	l    *lock
	left int32
}

//go:noinline
func (g *guard) close() {
	if g.left == 0 {
		return
	}
	g.left = 0
	g.l.r.set(0)
	g.l.mu.Unlock()
}

// guarded has the guard of a lock that it does not have.
//
//go:noinline
func guarded(g *guard) {
	defer g.close()
	work()
}

// try goes on without the lock if another goroutine has it.
//
//go:noinline
func (l *lock) try(me int64) {
	ok := l.mu.TryLock()
	if ok {
		l.r.set(me)
	}
	work()
	if ok {
		l.r.set(0)
		l.mu.Unlock()
	}
}

// flips holds no lock if the flag is set when it begins. Most of the time, it is not set.
//
//go:noinline
func (l *lock) flips(flag *bool, again chan bool, me int64) {
	if !*flag {
		l.mu.Lock()
		l.r.set(me)
	}
	work()
	<-again
	if !*flag {
		l.r.set(0)
		l.mu.Unlock()
	}
}

// byCallback has the lock until a callback gives it back.
//
//go:noinline
func (l *lock) byCallback(f func(*lock) int32, me int64) {
	l.mu.Lock()
	l.r.set(me)
	left := f(l)
	work()
	if left == 1 {
		l.r.set(0)
		l.mu.Unlock()
	}
}

//go:noinline
func givesBack(l *lock) int32 {
	l.r.set(0)
	giveBack1(l)
	return 0
}

//go:noinline
func (l *lock) touch() {
	l.mu.Lock()
	l.mu.Unlock()
}

// startFools starts one fool for each kind.
func startFools() {
	fool := func(kind string, do func(l *lock, me int64)) {
		l := newLock(kind)
		lend(l)
		go func() {
			for me := goid(); ; {
				do(l, me)
			}
		}()
	}
	fool("number", func(l *lock, me int64) { l.byNumber(0, me) })
	fool("guard", func(l *lock, me int64) { guarded(&guard{l: l}) })
	fool("try", func(l *lock, me int64) { l.try(me) })
	fool("callback", func(l *lock, me int64) { l.byCallback(givesBack, me) })
	fool("flag", func(l *lock, me int64) {
		flag, again := true, make(chan bool)
		go func() {
			pause()
			flag = false
			work()
			flag = true
			again <- true
		}()
		l.flips(&flag, again, me)
	})

	l := newLock("ended")
	go end(l)
	go func() {
		for {
			l.touch()
			pause()
		}
	}()
	go func() {
		for me := goid(); ; {
			l.byNumber(0, me)
		}
	}()
}
