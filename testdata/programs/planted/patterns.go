package main

import (
	"context"
	"io"
	"log"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// spinning has waiters that look again and again at a flag, and give way in between. Those of the twin wait for a channel.
func spinning(healthy bool) {
	var flag atomic.Bool
	never := make(chan struct{})
	for range 4 {
		go waiter(&flag, never, healthy)
	}
}

func waiter(flag *atomic.Bool, raised <-chan struct{}, healthy bool) {
	for {
		if !healthy {
			await(flag)
			continue
		}
		select {
		case <-raised:
		case <-time.After(40 * pace):
		}
	}
}

//go:noinline
func await(flag *atomic.Bool) {
	for !flag.Load() {
		runtime.Gosched()
	}
}

// A table is read for long, and written now and then.
type table struct {
	mu   sync.RWMutex
	rows int
}

// starvingWriters has writers that wait for readers. The twin's readers read a copy.
func starvingWriters(healthy bool) {
	t := new(table)
	for range 6 {
		go reader(t, healthy)
	}
	go updater(t)
}

func reader(t *table, healthy bool) {
	for {
		if healthy {
			t.mu.RLock()
			sink = t.rows
			t.mu.RUnlock()
			time.Sleep(20 * pace)
		} else {
			t.scan()
		}
	}
}

//go:noinline
func (t *table) scan() {
	t.mu.RLock()
	time.Sleep(20 * pace) // a slow disk
	t.mu.RUnlock()
}

func updater(t *table) {
	for {
		time.Sleep(pace)
		t.update()
	}
}

//go:noinline
func (t *table) update() {
	t.mu.Lock()
	t.rows++
	t.mu.Unlock()
}

// A till counts under a lock, and logs.
type till struct {
	mu  sync.Mutex
	sum int
}

// logUnderLock logs to a slow disk while it holds a lock. The twin has no lock then, and little to say.
func logUnderLock(healthy bool) {
	r, w := io.Pipe()
	go drain(r)
	messages := log.New(w, "", 0)
	t := new(till)
	for range 8 {
		go cashier(t, messages, healthy)
	}
}

func cashier(t *till, messages *log.Logger, healthy bool) {
	for {
		if healthy {
			time.Sleep(200 * pace)
			t.add()
			messages.Print("sold")
		} else {
			time.Sleep(pace)
			t.sell(messages)
		}
	}
}

//go:noinline
func (t *till) add() {
	t.mu.Lock()
	t.sum++
	t.mu.Unlock()
}

//go:noinline
func (t *till) sell(messages *log.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum++
	messages.Print("sold")
}

// timersInLoop makes a timer for each message. The twin has one, and few messages.
func timersInLoop(healthy bool) { go consume(healthy) }

func consume(healthy bool) {
	messages := make(chan int, 1)
	for {
		messages <- 1
		if healthy {
			time.Sleep(pace)
			sink += <-messages
		} else {
			next(messages)
		}
	}
}

//go:noinline
func next(messages <-chan int) {
	select {
	case n := <-messages:
		sink += n
	case <-time.After(time.Minute):
	}
}

// deferInLoop defers a call for each of many items: all wait for the function's end. The twin defers none.
func deferInLoop(healthy bool) { go visitor(healthy) }

func visitor(healthy bool) {
	for {
		if healthy {
			time.Sleep(pace)
			sink++
		} else {
			visitAll()
		}
	}
}

//go:noinline
func visitAll() {
	for range 10_000 {
		defer leave()
	}
}

//go:noinline
func leave() { sink++ }

// emptyPool takes buffers from a sync.Pool, and never gives them back. The twin does.
func emptyPool(healthy bool) {
	p := &sync.Pool{New: newBuffer}
	for range 2 {
		go formatter(p, healthy)
	}
}

type buffer struct{ table [1024]int }

func newBuffer() any {
	b := new(buffer)
	for i := range b.table { // it is not cheap to make
		b.table[i] = i * i
	}
	return b
}

func formatter(p *sync.Pool, healthy bool) {
	for {
		if healthy {
			time.Sleep(pace)
		}
		b := format(p)
		if healthy {
			p.Put(b)
		}
	}
}

//go:noinline
func format(p *sync.Pool) *buffer {
	b := p.Get().(*buffer)
	sink += b.table[7]
	return b
}

// slowFinalizers have to close a far thing each. The twin's objects are closed by who used them.
func slowFinalizers(healthy bool) { go opener(healthy) }

type object struct{ buf [1 << 16]byte }

func opener(healthy bool) {
	for n := 0; ; n++ {
		time.Sleep(pace)
		h := new(object)
		if !healthy {
			runtime.SetFinalizer(h, (*object).finalize)
		}
		if n%20 == 0 {
			runtime.GC()
		}
	}
}

//go:noinline
func (h *object) finalize() { time.Sleep(10 * pace) }

// lookUps ask a slow name server for each call. The twin asks now and then.
func lookUps(healthy bool) {
	server := must(net.ListenPacket("udp", "127.0.0.1:0"))
	go names(server)
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	for range 8 {
		go caller(r, healthy)
	}
}

func caller(r *net.Resolver, healthy bool) {
	for {
		if healthy {
			time.Sleep(400 * pace)
		}
		time.Sleep(pace)
		call(r)
	}
}

//go:noinline
func call(r *net.Resolver) { r.LookupHost(context.Background(), "db.example.") }

// names answers after 20 ms that there is no such name.
func names(c net.PacketConn) {
	for {
		question := make([]byte, 512)
		n, from, err := c.ReadFrom(question)
		if err != nil {
			return
		}
		time.AfterFunc(4*pace, func() {
			question[2], question[3] = 0x81, 0x83
			c.WriteTo(question[:n], from)
		})
	}
}
