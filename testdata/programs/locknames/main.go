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
		global, ofGlobal, arrayOfGlobal, byPointer, embedded, nested, anonymous, local, argument, methodValue, deferred,
		element, sliceElement, mapElement, field, generic, reader, writer, once, condition, locker, closure,
		throughMap, ofMap, throughField, ofTwo,
	} {
		lock, name := kind()
		fmt.Printf("%p %s\n", lock, name)
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

func byPointer() (any, string) {
	c := newCache()
	c.mu.Lock()
	go c.waitMu()
	return &c.mu, "main.(*cache).mu"
}

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

func nested() (any, string) {
	c := newCache()
	c.inner.mu.Lock()
	go c.waitInner()
	return &c.inner.mu, "main.(*inner).mu"
}

func (c *cache) waitInner() {
	c.inner.mu.Lock()
	c.inner.n++
	c.inner.mu.Unlock()
}

func anonymous() (any, string) {
	c := newCache()
	c.stats.mu.Lock()
	go c.waitStats()
	return &c.stats.mu, "main.(*cache).stats.mu"
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

func argument() (any, string) {
	c := newCache()
	c.mu.Lock()
	go c.waitArgument()
	return &c.mu, "main.(*cache).mu"
}

func (c *cache) waitArgument() {
	take(&c.mu)
	c.n++
}

//go:noinline
func take(mu *sync.Mutex) { mu.Lock() }

func methodValue() (any, string) {
	c := newCache()
	c.mu.Lock()
	go c.waitMethod()
	return &c.mu, "main.(*cache).mu"
}

func (c *cache) waitMethod() {
	call(c.mu.Lock)
	c.n++
}

//go:noinline
func call(f func()) { f() }

func deferred() (any, string) {
	c := newCache()
	c.mu.Lock()
	go c.waitDeferred()
	return &c.mu, "main.(*cache).mu"
}

func (c *cache) waitDeferred() {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Println("never")
}

func element() (any, string) {
	c := newCache()
	c.locks[3].Lock()
	go c.waitElement(3)
	return &c.locks[3], "main.(*cache).locks[3]"
}

func (c *cache) waitElement(i int) {
	c.locks[i].Lock()
	c.n++
	c.locks[i].Unlock()
}

func sliceElement() (any, string) {
	c := newCache()
	c.values[4].mu.Lock()
	go c.waitValues(4)
	return &c.values[4].mu, "main.(*shard).mu"
}

func (c *cache) waitValues(i int) {
	c.values[i].mu.Lock()
	c.n++
	c.values[i].mu.Unlock()
}

func mapElement() (any, string) {
	c := newCache()
	s := c.byName["a"]
	s.mu.Lock()
	go c.waitMap("a")
	return &s.mu, "main.(*shard).mu"
}

func (c *cache) waitMap(key string) {
	s := c.byName[key]
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
}

func field() (any, string) {
	c := newCache()
	c.next.mu.Lock()
	go c.waitNext()
	return &c.next.mu, "main.(*cache).mu"
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

func reader() (any, string) {
	c := newCache()
	c.rw.Lock()
	go c.waitRead()
	return &c.rw, "main.(*cache).rw"
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

func condition() (any, string) {
	c := newCache()
	c.cond.L.Lock()
	go c.waitCond()
	return c.cond.L, ""
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
