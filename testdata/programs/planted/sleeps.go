package main

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A cluster lends connections: who finds none sleeps and tries again. Mgo's does the same.
type cluster struct {
	mu    sync.RWMutex
	limit int
	used  int
	free  []net.Conn
	addr  string
}

var errPoolLimit = errors.New("per-server connection limit reached")

// retryPool has twenty clients and four connections, each free again after 10 ms. The twin has a connection for each.
func retryPool(healthy bool) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go database(l)
	c := &cluster{limit: 4, addr: l.Addr().String()}
	if healthy {
		c.limit = 20
	}
	for range 20 {
		go client(c, healthy)
	}
}

func client(c *cluster, healthy bool) {
	for {
		if healthy {
			time.Sleep(200 * pace)
		}
		c.insert()
	}
}

//go:noinline
func (c *cluster) insert() {
	socket := c.acquireSocket()
	query(socket)
	c.release(socket)
}

//go:noinline
func (c *cluster) acquireSocket() net.Conn {
	for {
		socket, err := c.take()
		if err == errPoolLimit {
			time.Sleep(20 * pace)
			continue
		}
		return socket
	}
}

//go:noinline
func (c *cluster) take() (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		socket := c.free[n-1]
		c.free = c.free[:n-1]
		return socket, nil
	}
	if c.used >= c.limit {
		return nil, errPoolLimit
	}
	c.used++
	return net.Dial("tcp", c.addr)
}

//go:noinline
func (c *cluster) release(socket net.Conn) {
	c.mu.Lock()
	c.free = append(c.free, socket)
	c.mu.Unlock()
}

// A retryLock is taken by tries, with a sleep of random length in between, as MinIO's locks are.
type retryLock struct {
	mu   sync.Mutex
	held bool
}

//go:noinline
func (l *retryLock) Lock() { l.lockLoop() }

//go:noinline
func (l *retryLock) lockLoop() {
	for !l.try() {
		time.Sleep(rand.N(10 * pace))
	}
}

//go:noinline
func (l *retryLock) try() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := !l.held
	l.held = true
	return taken
}

func (l *retryLock) Unlock() {
	l.mu.Lock()
	l.held = false
	l.mu.Unlock()
}

// A store writes each object to several disks at once, under a lock for each name and disk.
type store struct {
	locks [12][4]retryLock
	disks [4]io.Writer
}

// retryLocks has twelve writers of one object. Those of the twin write one each, now and then.
func retryLocks(healthy bool) {
	s := new(store)
	for i := range s.disks {
		r, w := io.Pipe()
		go drain(r)
		s.disks[i] = w
	}
	for i := range s.locks {
		go writer(s, i, healthy)
	}
}

func writer(s *store, name int, healthy bool) {
	for {
		if healthy {
			time.Sleep(rand.N(400 * pace))
			s.put(name)
		} else {
			s.put(0)
		}
	}
}

//go:noinline
func (s *store) put(name int) {
	var all sync.WaitGroup
	for disk := range s.disks {
		all.Add(1)
		go s.putPart(&all, name, disk)
	}
	all.Wait()
}

func (s *store) putPart(all *sync.WaitGroup, name, disk int) {
	defer all.Done()
	s.locks[name][disk].Lock()
	defer s.locks[name][disk].Unlock()
	s.disks[disk].Write([]byte("a part"))
}

// drain is a disk: it needs a millisecond for a part.
func drain(r io.Reader) {
	part := make([]byte, 64)
	for {
		r.Read(part)
		time.Sleep(time.Millisecond)
	}
}
