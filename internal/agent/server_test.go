package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler"
)

// serve starts a server that serves no process.
func serve(t *testing.T, o Options) *Server {
	t.Helper()
	o.Window, o.Every, o.AtOnce = time.Second, time.Minute, 1
	o.Match = func(*sampler.Process) bool { return false }
	s := fixture.Must(Listen("127.0.0.1:0", o))(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

// status returns the status of a request.
func status(t *testing.T, c *http.Client, url string, headers map[string]string) (int, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := fixture.Must(http.NewRequestWithContext(ctx, http.MethodGet, url, nil))(t)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	r.Host = headers["Host"]
	answer, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

// Without a token, only this host is served, and no page in a
// browser. With one, who has it.
func TestWhoIsServed(t *testing.T) {
	open, guarded := serve(t, Options{}), serve(t, Options{Token: "secret"})
	for _, c := range []struct {
		s       *Server
		headers map[string]string
		want    int
	}{
		{open, nil, http.StatusOK},
		{open, map[string]string{"Host": "localhost:1"}, http.StatusOK},
		{open, map[string]string{"Host": "[::1]:1"}, http.StatusOK},
		{open, map[string]string{"Host": "evil.example"}, http.StatusForbidden},
		{open, map[string]string{"Origin": "http://evil.example"}, http.StatusForbidden},
		{open, map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		{open, map[string]string{"Sec-Fetch-Site": "same-site"}, http.StatusForbidden},
		{open, map[string]string{"Sec-Fetch-Site": "same-origin"}, http.StatusForbidden},
		{open, map[string]string{"Sec-Fetch-Site": "none"}, http.StatusOK},
		{guarded, nil, http.StatusUnauthorized},
		{guarded, map[string]string{"Authorization": "Bearer wrong"}, http.StatusUnauthorized},
		{guarded, map[string]string{"Authorization": "secret"}, http.StatusUnauthorized},
		{guarded, map[string]string{"Authorization": "Bearer secret"}, http.StatusOK},
		{guarded, map[string]string{"Authorization": "Bearer secret", "Host": "host.example"}, http.StatusOK},
	} {
		for _, path := range []string{"/discovery", "/metrics"} {
			if got, err := status(t, http.DefaultClient, c.s.URL()+path, c.headers); got != c.want || err != nil {
				t.Errorf("%s %v: %d, %v; want %d", path, c.headers, got, err, c.want)
			}
		}
	}
}

// Clients that send their requests slowly keep nobody else waiting.
func TestSlowClients(t *testing.T) {
	s := serve(t, Options{})
	for range maxRequests + 10 {
		c := fixture.Must(net.Dial("tcp", s.Address()))(t)
		defer c.Close()
		fixture.Must(fmt.Fprint(c, "GET /discovery HTTP/1.1\r\nHost: "))(t)
	}
	if got, err := status(t, http.DefaultClient, s.URL()+"/discovery", nil); got != http.StatusOK || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

// Clients that only connect, or that may not ask, or that are
// idle, keep nobody out.
func TestManyClients(t *testing.T) {
	const token = "Authorization: Bearer secret\r\n"
	for name, sent := range map[string]string{"silent": "", "refused": "\r\n", "idle": token + "\r\n"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Options{Token: "secret"})
			for range maxConnections + 20 {
				c := fixture.Must(net.Dial("tcp", s.Address()))(t)
				defer c.Close()
				if sent == "" {
					continue
				}
				fixture.Must(fmt.Fprint(c, "GET /discovery HTTP/1.1\r\nHost: x\r\n"+sent))(t)
				answer := bufio.NewReader(c)
				r := fixture.Must(http.ReadResponse(answer, nil))(t)
				_, _ = io.Copy(io.Discard, r.Body)
				if refused := r.StatusCode == http.StatusUnauthorized; refused != r.Close {
					t.Fatalf("%s, and the connection is closed: %v", r.Status, r.Close)
				}
			}
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			if got, err := status(t, client, s.URL()+"/discovery", map[string]string{"Authorization": "Bearer secret"}); got != http.StatusOK || err != nil {
				t.Errorf("%d, %v", got, err)
			}
			s.clients.mu.Lock()
			defer s.clients.mu.Unlock()
			if n := len(s.clients.all); n > maxConnections {
				t.Errorf("there are %d connections", n)
			}
		})
	}
}

// A host with many strangers does not push out the stranger of
// another host.
func TestStrangersOfOneHost(t *testing.T) {
	cs := connections{all: map[net.Conn]*connection{}}
	add := func(host string) net.Conn {
		c := &fakeConn{address: &net.TCPAddr{IP: net.ParseIP(host), Port: len(cs.all)}}
		cs.changed(c, http.StateNew)
		return c
	}
	one := add("10.0.0.1")
	for range 10 * maxConnections {
		add("10.0.0.2")
	}
	if cs.all[one] == nil || len(cs.all) != maxConnections {
		t.Errorf("there are %d connections, the first one: %v", len(cs.all), cs.all[one])
	}
}

// A fakeConn has an address only.
type fakeConn struct {
	net.Conn
	address net.Addr
}

func (c *fakeConn) RemoteAddr() net.Addr { return c.address }
func (c *fakeConn) Close() error         { return nil }

// While there are as many requests as may be, others have to come again.
func TestManyRequests(t *testing.T) {
	s := serve(t, Options{})
	for range maxRequests {
		s.busy <- struct{}{}
	}
	if got, err := status(t, http.DefaultClient, s.URL()+"/discovery", nil); got != http.StatusServiceUnavailable || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	<-s.busy
	if got, err := status(t, http.DefaultClient, s.URL()+"/discovery", nil); got != http.StatusOK || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

// Who has used the processor time of a span, has to wait until
// the share allows more.
func TestBudget(t *testing.T) {
	if sampler.ProcessorTime() == 0 {
		t.Skip("this system does not say how much processor time a process has used")
	}
	const share = 0.001
	b := newBudget(&Options{MaxCPU: share, Every: 10 * time.Second})
	if wait := b.wait(time.Now()); wait != 0 {
		t.Fatalf("it waits for %v at first", wait)
	}
	for began := sampler.ProcessorTime(); sampler.ProcessorTime()-began < 50*time.Millisecond; {
	}
	now := time.Now()
	wait := b.wait(now)
	if wait < time.Second {
		t.Fatalf("it waits for %v", wait)
	}
	if again := b.wait(now.Add(2*wait + time.Hour)); again != 0 {
		t.Errorf("after that, it waits for %v", again)
	}
	if free := newBudget(&Options{Every: time.Second}).wait(now); free != 0 {
		t.Errorf("without a bound, it waits for %v", free)
	}
}
