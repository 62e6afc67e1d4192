package agent

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxConnections bounds the clients that are connected at a time.
const maxConnections = 256

// connections makes room for new clients. Strangers give way
// first, and then clients that are idle. So nobody who only
// connects keeps out others.
type connections struct {
	mu  sync.Mutex
	all map[net.Conn]*connection
}

type connection struct {
	known bool      // it has sent a request that may be answered
	idle  bool      // it waits for no answer
	since time.Time // when it connected, or became idle
}

// changed notes what the server says of a connection.
func (cs *connections) changed(c net.Conn, state http.ConnState) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	switch of := cs.all[c]; {
	case state == http.StateNew:
		cs.makeRoom()
		cs.all[c] = &connection{idle: true, since: time.Now()}
	case of == nil: // it was closed to make room
	case state == http.StateClosed || state == http.StateHijacked:
		delete(cs.all, c)
	case state == http.StateIdle:
		of.idle, of.since = true, time.Now()
	default:
		of.idle = false
	}
}

// admit notes that a client may ask.
func (cs *connections) admit(c net.Conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if of := cs.all[c]; of != nil {
		of.known = true
	}
}

// makeRoom closes a connection if there are as many as may be.
// Of the strangers it chooses one whose host has the most. If
// all clients are known and wait for answers, the one that waits
// longest gives way.
func (cs *connections) makeRoom() {
	if len(cs.all) < maxConnections {
		return
	}
	strangers := map[string]int{} // by host
	for c, of := range cs.all {
		if !of.known {
			strangers[hostOf(c)]++
		}
	}
	var chosen net.Conn
	for c, of := range cs.all {
		if chosen == nil || cs.before(c, of, chosen, strangers) {
			chosen = c
		}
	}
	delete(cs.all, chosen)
	_ = plainConn(chosen).Close()
}

// before reports whether a connection gives way before another one does.
func (cs *connections) before(c net.Conn, of *connection, other net.Conn,
	strangers map[string]int) bool {
	than := cs.all[other]
	if of.known != than.known {
		return !of.known
	}
	if !of.known {
		if m, n := strangers[hostOf(c)], strangers[hostOf(other)]; m != n {
			return m > n
		}
	} else if of.idle != than.idle {
		return of.idle
	}
	return of.since.Before(than.since)
}

// hostOf returns the address of a client without its port.
func hostOf(c net.Conn) string {
	host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	return host // "" for all of a unix socket
}

// plainConn returns the connection below TLS, which closes without a farewell.
func plainConn(c net.Conn) net.Conn {
	if of, ok := c.(*tls.Conn); ok {
		return of.NetConn()
	}
	return c
}
