package main

import "unsafe"

// A slots is a channel that is used as a lock, or as a semaphore: who has sent to it has a place in it.
type slots chan struct{}

func (s slots) object() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&s)) }

//go:noinline
func (s slots) lock(r *record, me int64) {
	s <- struct{}{}
	use(r, me)
	<-s
}

//go:noinline
func (s slots) lockDeferred(r *record, me int64) {
	s <- struct{}{}
	defer func() { <-s }()
	use(r, me)
}

func (s slots) acquire() { s <- struct{}{} }

func (s slots) release() { <-s }

//go:noinline
func (s slots) lockByMethods(r *record, me int64) {
	s.acquire()
	defer s.release()
	use(r, me)
}

// lockOrGiveUp takes a place unless something comes from stop first.
//
//go:noinline
func (s slots) lockOrGiveUp(r *record, me int64, stop chan bool) {
	select {
	case s <- struct{}{}:
	case <-stop:
		return
	}
	defer func() { <-s }()
	use(r, me)
}

// lockInLoop takes a place and gives it back again and again, in one function.
//
//go:noinline
func (s slots) lockInLoop(r *record, me int64) {
	for {
		s <- struct{}{}
		use(r, me)
		<-s
		pause()
	}
}

// startWorker takes a place for a goroutine that it starts.
//
//go:noinline
func (s slots) startWorker(r *record) {
	s <- struct{}{}
	go func() {
		defer func() { <-s }()
		use(r, goid())
	}()
}

// A limited has its slots in a field.
type limited struct {
	name  string
	slots chan struct{}
}

//go:noinline
func (l *limited) do(r *record, me int64) {
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	use(r, me)
}

// everywhere is a package's own.
var everywhere = make(chan struct{}, 3)

//go:noinline
func doEverywhere(r *record, me int64) {
	everywhere <- struct{}{}
	defer func() { <-everywhere }()
	use(r, me)
}

// borrow takes a token out of a channel, and puts it back.
//
//go:noinline
func borrow(tokens chan int, r *record, me int64) {
	t := <-tokens
	use(r, me)
	tokens <- t
}

//go:noinline
func borrowDeferred(tokens chan int, r *record, me int64) {
	t := <-tokens
	defer func() { tokens <- t }()
	use(r, me)
}

func startChannels() {
	eachSlots("channel-lock", 1, slots.lock)
	eachSlots("channel-lock-defer", 1, slots.lockDeferred)
	eachSlots("channel-lock-methods", 1, slots.lockByMethods)
	eachSlots("channel-lock-loop", 1, slots.lockInLoop)
	eachSlots("channel-semaphore", 2, slots.lock)
	stop := make(chan bool)
	eachSlots("channel-lock-select", 1, func(s slots, r *record, me int64) { s.lockOrGiveUp(r, me, stop) })

	s := make(slots, 2)
	r := addParts("channel-worker", cap(s), s.object())
	contend(func(int64) { s.startWorker(r) })

	l := &limited{name: "field", slots: make(chan struct{}, 1)}
	rl := addParts("channel-field", cap(l.slots), slots(l.slots).object())
	contend(func(me int64) { l.do(rl, me) })

	rg := addParts("channel-global", cap(everywhere), slots(everywhere).object())
	contend(func(me int64) { doEverywhere(rg, me) })

	eachTokens("channel-tokens", borrow)
	eachTokens("channel-tokens-defer", borrowDeferred)
}

func eachSlots(kind string, size int, do func(s slots, r *record, me int64)) {
	s := make(slots, size)
	r := addParts(kind, size, s.object())
	contend(func(me int64) { do(s, r, me) })
}

func eachTokens(kind string, do func(tokens chan int, r *record, me int64)) {
	tokens := make(chan int, 2)
	r := addParts(kind, cap(tokens), *(*unsafe.Pointer)(unsafe.Pointer(&tokens)))
	tokens <- 1
	tokens <- 2
	contend(func(me int64) { do(tokens, r, me) })
}
