// Locknames: for each of many kinds of locks, one goroutine waits forever, in main.wait.... The program prints the address and
// the expected name of each lock, after orNone if it may have none, too.
package main

import (
	"fmt"
	"reflect"
	"sync"
	"time"
	"unsafe"
)

const orNone = "perhaps "

func main() {
	for _, kind := range []func() (lock any, name string){
		global, ofGlobal, arrayOfGlobal, embedded, local, generic, writer, once, locker, closure,
		throughMap, ofMap, throughField, ofTwo,
	} {
		lock, name := kind()
		fmt.Printf("%p %s\n", lock, name)
	}
	for _, kind := range inCache {
		c := newCache()
		lock := kind.lock(c)
		lock.Lock()
		go kind.wait(c)
		fmt.Printf("%p %s\n", lock, kind.name)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // the runtime ends a program in which every goroutine waits
}

var single sync.Mutex

func global() (any, string) {
	single.Lock()
	go waitSingle()
	return &single, "main.single"
}

func waitSingle() { single.Lock() }

type config struct {
	n    int
	part struct {
		mu sync.Mutex
	}
	shards [4]shard
}

type shard struct {
	n  int
	mu sync.Mutex
}

var settings config

func ofGlobal() (any, string) {
	settings.part.mu.Lock()
	go waitSettings()
	return &settings.part.mu, "main.settings.part.mu"
}

func waitSettings() { settings.part.mu.Lock() }

func arrayOfGlobal() (any, string) {
	settings.shards[2].mu.Lock()
	go waitShard(2)
	return &settings.shards[2].mu, "main.settings.shards[2].mu"
}

func waitShard(i int) { settings.shards[i].mu.Lock() }

type cache struct {
	n      int
	mu     sync.Mutex
	inner  inner
	stats  struct{ mu sync.Mutex }
	locks  [8]sync.Mutex
	shards []*shard
	values []shard
	byName map[string]*shard
	next   *cache
	once   sync.Once
	rw     sync.RWMutex
	read   sync.RWMutex
	cond   *sync.Cond
}

type inner struct {
	n  int
	mu sync.Mutex
}

func newCache() *cache {
	return &cache{
		shards: []*shard{{}, {}, {}}, values: make([]shard, 5), byName: map[string]*shard{"a": {}},
		next: &cache{}, cond: sync.NewCond(new(sync.Mutex)),
	}
}

// inCache are locks of a cache.
var inCache = []struct {
	lock func(*cache) sync.Locker
	wait func(*cache)
	name string
}{
	{func(c *cache) sync.Locker { return &c.mu }, (*cache).waitMu, "main.(*cache).mu"},
	{func(c *cache) sync.Locker { return &c.mu }, (*cache).waitArgument, "main.(*cache).mu"},
	{func(c *cache) sync.Locker { return &c.mu }, (*cache).waitMethod, "main.(*cache).mu"},
	{func(c *cache) sync.Locker { return &c.mu }, (*cache).waitDeferred, "main.(*cache).mu"},
	{func(c *cache) sync.Locker { return &c.inner.mu }, (*cache).waitInner, "main.(*inner).mu"},
	{func(c *cache) sync.Locker { return &c.stats.mu }, (*cache).waitStats, "main.(*cache).stats.mu"},
	{func(c *cache) sync.Locker { return &c.locks[3] }, waitElement, "main.(*cache).locks[3]"},
	{func(c *cache) sync.Locker { return &c.values[4].mu }, waitValues, "main.(*shard).mu"},
	{func(c *cache) sync.Locker { return &c.byName["a"].mu }, waitMap, "main.(*shard).mu"},
	{func(c *cache) sync.Locker { return &c.next.mu }, (*cache).waitNext, "main.(*cache).mu"},
	{func(c *cache) sync.Locker { return &c.rw }, (*cache).waitRead, "main.(*cache).rw"},
	{func(c *cache) sync.Locker { return c.cond.L }, (*cache).waitCond, ""},
}

func waitElement(c *cache) { c.waitElement(3) }

func waitValues(c *cache) { c.waitValues(4) }

func waitMap(c *cache) { c.waitMap("a") }

func (c *cache) waitMu() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

type account struct {
	sync.Mutex
	n int
}

func embedded() (any, string) {
	a := &account{}
	a.Lock()
	go a.wait()
	return &a.Mutex, "main.(*account).Mutex"
}

func (a *account) wait() {
	a.Lock()
	a.n++
	a.Unlock()
}

func (c *cache) waitInner() {
	c.inner.mu.Lock()
	c.inner.n++
	c.inner.mu.Unlock()
}

func (c *cache) waitStats() {
	c.stats.mu.Lock()
	c.n++
	c.stats.mu.Unlock()
}

func local() (any, string) {
	var mu sync.Mutex
	mu.Lock()
	go func() {
		mu.Lock()
		fmt.Println("never")
		mu.Unlock()
	}()
	return &mu, "mu in main.local"
}

func (c *cache) waitArgument() {
	take(&c.mu)
	c.n++
}

//go:noinline
func take(mu *sync.Mutex) { mu.Lock() }

func (c *cache) waitMethod() {
	call(c.mu.Lock)
	c.n++
}

//go:noinline
func call(f func()) { f() }

func (c *cache) waitDeferred() {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Println("never")
}

func (c *cache) waitElement(i int) {
	c.locks[i].Lock()
	c.n++
	c.locks[i].Unlock()
}

func (c *cache) waitValues(i int) {
	c.values[i].mu.Lock()
	c.n++
	c.values[i].mu.Unlock()
}

func (c *cache) waitMap(key string) {
	s := c.byName[key]
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
}

func (c *cache) waitNext() {
	c.next.mu.Lock()
	c.n++
	c.next.mu.Unlock()
}

type box[T any] struct {
	value T
	mu    sync.Mutex
}

func generic() (any, string) {
	b := &box[int]{}
	b.mu.Lock()
	go b.wait()
	return &b.mu, "main.(*box[...]).mu"
}

func (b *box[T]) wait() {
	b.mu.Lock()
	fmt.Println(b.value)
	b.mu.Unlock()
}

func (c *cache) waitRead() {
	c.rw.RLock()
	fmt.Println(c.n)
	c.rw.RUnlock()
}

func writer() (any, string) {
	c := newCache()
	c.read.RLock()
	go c.waitWrite()
	return &c.read, "main.(*cache).read"
}

func (c *cache) waitWrite() {
	c.read.Lock()
	c.n++
	c.read.Unlock()
}

func once() (any, string) {
	c := newCache()
	started := make(chan bool)
	go c.once.Do(func() { close(started); select {} })
	<-started
	go c.waitOnce()
	mutex := reflect.ValueOf(&c.once).Elem().FieldByName("m").UnsafeAddr()
	return unsafe.Pointer(mutex), "main.(*cache).once.m"
}

func (c *cache) waitOnce() {
	c.once.Do(func() {})
	c.n++
}

func (c *cache) waitCond() {
	c.cond.L.Lock()
	c.n++
	c.cond.L.Unlock()
}

func locker() (any, string) {
	c := newCache()
	c.mu.Lock()
	go waitLocker(&c.mu)
	return &c.mu, ""
}

//go:noinline
func waitLocker(l sync.Locker) {
	l.Lock()
	l.Unlock()
}

func closure() (any, string) {
	c := newCache()
	c.mu.Lock()
	go func() {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}()
	return &c.mu, "main.(*cache).mu"
}
