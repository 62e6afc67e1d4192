package main

import "sync"

// These functions take two locks each, and wait for the second. It lies at the beginning of an object, as the first does.

type registry struct {
	sync.Mutex
	devices map[string]*device
	urls    map[string]*sync.Mutex
}

type device struct {
	lock sync.Mutex
	of   *registry
}

func newRegistry() *registry {
	r := &registry{devices: map[string]*device{}, urls: map[string]*sync.Mutex{"a": {}}}
	r.devices["a"] = &device{of: r}
	return r
}

// throughMap reaches the second lock through a map.
func throughMap() (any, string) {
	r := newRegistry()
	lock := &r.devices["a"].lock
	lock.Lock()
	go r.remove("a")
	return lock, orNone + "main.(*device).lock"
}

func (r *registry) remove(name string) {
	r.Lock()
	defer r.Unlock()
	d := r.look(name)
	d.lock.Lock()
	defer d.lock.Unlock()
	r.forget(d)
}

//go:noinline
func (r *registry) look(name string) *device { return r.devices[name] }

//go:noinline
func (r *registry) forget(*device) {}

// ofMap takes a lock that is an element of a map.
func ofMap() (any, string) {
	r := newRegistry()
	lock := r.urls["a"]
	lock.Lock()
	go r.visit("a")
	return lock, ""
}

func (r *registry) visit(url string) {
	r.Lock()
	r.urls[url].Lock()
	r.Unlock()
}

// throughField reaches the second lock through a field of the object that has the first.
func throughField() (any, string) {
	d := newRegistry().devices["a"]
	d.of.Lock()
	go d.rename()
	return &d.of.Mutex, "main.(*registry).Mutex"
}

func (d *device) rename() {
	d.lock.Lock()
	d.of.Lock()
	d.of.devices["b"] = d
	d.of.Unlock()
	d.lock.Unlock()
}

// ofTwo takes two locks that are arguments.
func ofTwo() (any, string) {
	var a, b sync.Mutex
	b.Lock()
	go both(&a, &b)
	return &b, orNone + "b in main.both"
}

//go:noinline
func both(a, b *sync.Mutex) {
	a.Lock()
	b.Lock()
	b.Unlock()
	a.Unlock()
}
