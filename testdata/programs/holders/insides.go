package main

import (
	"sync"
	"unsafe"
)

// A cache uses what package sync has besides locks, under a lock.
type cache struct {
	mu    sync.Mutex
	seen  sync.Map
	spare sync.Pool
}

//go:noinline
func (c *cache) useMap(r *record, me int64) {
	c.mu.Lock()
	r.took(0, me)
	v, _ := c.seen.LoadOrStore(me, &thing{})
	c.seen.Range(func(any, any) bool { return true })
	v.(*thing).next = nil
	work()
	r.gives(0)
	c.mu.Unlock()
}

//go:noinline
func (c *cache) usePool(r *record, me int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.took(0, me)
	b := c.spare.Get()
	work()
	c.spare.Put(b)
	r.gives(0)
}

//go:noinline
func (c *cache) useOnce(once *sync.Once, r *record, me int64) {
	c.mu.Lock()
	r.took(0, me)
	once.Do(work)
	*once = sync.Once{}
	r.gives(0)
	c.mu.Unlock()
}

// A oncer does something once in each round. All but one goroutine wait for the lock in the sync.Once.
type oncer struct {
	once  sync.Once
	round sync.WaitGroup
}

// mutexInOnce is the lock in a sync.Once: 4 bytes behind its beginning, since all Go releases that can build this program.
func (o *oncer) mutexInOnce() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(&o.once), 4) }

//go:noinline
func (o *oncer) do(r *record, me int64) {
	o.once.Do(func() {
		use(r, me)
	})
}

// startOnce starts goroutines that call Do at the same time, again and again.
func startOnce() {
	o := &oncer{}
	r := add("once", o.mutexInOnce())
	starts := make([]chan bool, workers)
	for i := range starts {
		starts[i] = make(chan bool)
		start := starts[i]
		go func() {
			for me := goid(); ; {
				<-start
				o.do(r, me)
				o.round.Done()
			}
		}()
	}
	go func() {
		for {
			o.round.Add(workers)
			for _, start := range starts {
				start <- true
			}
			o.round.Wait()
			pause()
			o.once = sync.Once{}
		}
	}()
}

// startInsides starts code that uses the rest of package sync.
func startInsides() {
	m, p, o := &cache{}, &cache{}, &cache{}
	p.spare.New = func() any { return &thing{} }
	once := new(sync.Once)
	contend("under-map", &m.mu, m.useMap)
	contend("under-pool", &p.mu, p.usePool)
	contend("under-once", &o.mu, func(r *record, me int64) { o.useOnce(once, r, me) })
	startOnce()
}
