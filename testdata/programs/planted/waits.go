package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"
)

// slowStage is a pipeline whose middle takes longest. The twin has an item now and then.
func slowStage(healthy bool) {
	raw, done := make(chan int), make(chan int)
	go producer(raw, healthy)
	go transformer(raw, done, healthy)
	go consumer(done)
}

func producer(raw chan<- int, healthy bool) {
	for n := 0; ; n++ {
		if healthy {
			time.Sleep(pace)
		}
		raw <- n
	}
}

func transformer(raw <-chan int, done chan<- int, healthy bool) {
	for n := range raw {
		if !healthy {
			n += transform()
		}
		done <- n
	}
}

//go:noinline
func transform() int { return spin(3000) }

func consumer(done <-chan int) {
	for n := range done {
		sink += n
	}
}

// leak starts goroutines that nobody receives from. The twin's end.
func leak(healthy bool) { go dispatcher(healthy) }

func dispatcher(healthy bool) {
	for n := 0; ; n++ {
		time.Sleep(pace)
		result := make(chan int)
		if healthy {
			result = make(chan int, 1)
		}
		go request(result, n)
	}
}

func request(result chan<- int, n int) { answer(result, n) }

//go:noinline
func answer(result chan<- int, n int) { result <- n }

// A pool lends connections, as database/sql does: who finds none waits in a queue of channels.
type pool struct {
	mu      sync.Mutex
	free    []net.Conn
	waiting []chan net.Conn
}

func smallPool(healthy bool) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go database(l)
	connections := 2
	if healthy {
		connections = 20
	}
	p := new(pool)
	for range connections {
		c := must(net.Dial("tcp", l.Addr().String()))
		p.free = append(p.free, c)
	}
	for range 20 {
		go serve(p, healthy)
	}
}

func serve(p *pool, healthy bool) {
	for {
		time.Sleep(pace)
		if healthy {
			time.Sleep(200 * pace)
		}
		handle(p)
	}
}

//go:noinline
func handle(p *pool) {
	c := p.get()
	query(c)
	p.put(c)
}

//go:noinline
func (p *pool) get() net.Conn {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return c
	}
	wait := make(chan net.Conn, 1)
	p.waiting = append(p.waiting, wait)
	p.mu.Unlock()
	return <-wait
}

//go:noinline
func (p *pool) put(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		p.waiting[0] <- c
		p.waiting = p.waiting[1:]
		return
	}
	p.free = append(p.free, c)
}

//go:noinline
func query(c net.Conn) {
	var answer [8]byte
	c.Write(answer[:])
	io.ReadFull(c, answer[:])
}

// database answers each question after 10 ms.
func database(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go session(c)
	}
}

func session(c net.Conn) {
	for {
		text, err := question(c)
		if err != nil {
			return
		}
		time.Sleep(2 * pace)
		c.Write(text)
	}
}

//go:noinline
func question(c net.Conn) ([]byte, error) {
	text := make([]byte, 8)
	_, err := io.ReadFull(c, text)
	return text, err
}

// farServer has sixteen clients that ask a server, and wait 10 ms for each answer. The server is in the same process. The twin's
// clients ask now and then.
func farServer(healthy bool) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go database(l)
	for range 16 {
		c := must(net.Dial("tcp", l.Addr().String()))
		go asker(c, healthy)
	}
}

// asker is flat: a loop that reads looks like one that waits for requests.
func asker(c net.Conn, healthy bool) {
	question, answer := make([]byte, 8), make([]byte, 8)
	for {
		if healthy {
			time.Sleep(200 * pace)
		}
		c.Write(question)
		io.ReadFull(c, answer)
	}
}

// askOverHTTP has eight clients that ask a server in the same process, whose handlers sleep. Each is always seen in one function, as if it
// had never moved. The twin's clients ask now and then.
func askOverHTTP(healthy bool) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(pace) }))
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 8
	for range 8 {
		go browser(s.URL, healthy)
	}
}

func browser(url string, healthy bool) {
	for {
		if healthy {
			time.Sleep(200 * pace)
		}
		order(url)
	}
}

func order(url string) {
	if r, err := http.Get(url); err == nil {
		r.Body.Close()
	}
}

// rareSync has eight goroutines that handle requests. One of a hundred waits for the disk for 90 ms. The twin's never do.
func rareSync(healthy bool) {
	requests := make(chan int)
	for range 8 {
		go serveRequests(requests, healthy)
	}
	go func() {
		for n := 0; ; n++ {
			time.Sleep(pace)
			requests <- n
		}
	}()
}

func serveRequests(requests <-chan int, healthy bool) {
	for n := range requests {
		serveOne(n, healthy)
	}
}

//go:noinline
func serveOne(n int, healthy bool) {
	spin(500)
	if !healthy && n%100 == 0 {
		persist()
	}
}

//go:noinline
func persist() {
	f := must(os.CreateTemp("", "planted"))
	defer os.Remove(f.Name())
	defer f.Close()
	for begin := time.Now(); time.Since(begin) < 18*pace; {
		f.WriteString("a line")
		f.Sync()
	}
}

// A ledger writes bookings, one after the other. Who adds one waits on a channel of its own until it is written.
type ledger struct{ bookings chan booking }

type booking struct {
	amount  int
	written chan int
}

// slowWriter has clients that add all the time, and a slow writer. The twin's have one now and then.
func slowWriter(healthy bool) {
	l := &ledger{make(chan booking, 100)}
	for range 2 {
		go l.writer(healthy)
	}
	for n := range 8 {
		go func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if n%2 == 0 {
				ctx = context.Background()
			}
			for {
				if healthy {
					time.Sleep(10 * pace)
				}
				l.add(ctx, n)
			}
		}()
	}
}

//go:noinline
func (l *ledger) add(ctx context.Context, amount int) int {
	b := booking{amount, make(chan int, 1)}
	l.bookings <- b
	if ctx.Done() == nil {
		return <-b.written
	}
	select {
	case number := <-b.written:
		return number
	case <-ctx.Done():
		return 0
	}
}

func (l *ledger) writer(healthy bool) {
	for {
		b := l.next()
		if !healthy {
			write()
		}
		b.written <- b.amount
	}
}

//go:noinline
func (l *ledger) next() booking { return <-l.bookings }

//go:noinline
func write() { time.Sleep(4 * pace) }
