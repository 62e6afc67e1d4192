package delve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"sync"
	"time"
)

const (
	patience  = 10 * time.Second // how long a server may take to answer
	maxAnswer = 256 << 20        // bytes that a server may send in one halt
)

// A wire is a connection to a Delve server. Calls can be kept
// back and then be sent at once.
type wire struct {
	client *rpc.Client
	pipe   *pipe
}

// dial connects to a server.
func dial(address string) (*wire, error) {
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	p := &pipe{Conn: c}
	p.more.L = &p.mu
	go p.pump()
	return &wire{client: jsonrpc.NewClient(p), pipe: p}, nil
}

func (w *wire) close() error { return w.client.Close() }

// begin begins a call.
func (w *wire) begin(method string, in, out any) *rpc.Call {
	return w.client.Go("RPCServer."+method, in, out, make(chan *rpc.Call, 1))
}

// call makes a call and waits for its answer.
func (w *wire) call(method string, in, out any) error {
	return await(w.begin(method, in, out), time.After(patience))
}

// An unansweredError reports that a server did not answer in
// time, or no longer.
type unansweredError struct{ error }

func (e unansweredError) Unwrap() error { return e.error }

// await waits until a call has its answer, or it is late. An
// error that the server has sent is an rpc.ServerError.
func await(c *rpc.Call, late <-chan time.Time) error {
	select {
	case <-c.Done:
	case <-late:
		return unansweredError{fmt.Errorf("no answer within %v", patience)}
	}
	return answered(c)
}

// answered returns the error of a call that has ended.
func answered(c *rpc.Call) error {
	var server rpc.ServerError
	if c.Error != nil && !errors.As(c.Error, &server) {
		return unansweredError{c.Error}
	}
	return c.Error
}

// A pipe is a connection that can keep back what is written, and
// takes what comes as fast as it comes: a server that must wait
// until its answers are read would halt its program for longer.
type pipe struct {
	net.Conn

	mu      sync.Mutex
	more    sync.Cond
	came    bytes.Buffer
	problem error     // that ended the reading
	latest  time.Time // when something came

	keep bool
	kept bytes.Buffer
}

// pump reads until the connection ends.
func (p *pipe) pump() {
	b := make([]byte, 256<<10)
	for {
		n, err := p.Conn.Read(b)
		p.mu.Lock()
		if p.came.Len()+n > maxAnswer {
			err = fmt.Errorf("the server sent more than %d MB", maxAnswer>>20)
		} else {
			p.came.Write(b[:n])
		}
		p.latest, p.problem = time.Now(), err
		p.more.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Read returns what has come.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.came.Len() == 0 && p.problem == nil {
		p.more.Wait()
	}
	if p.came.Len() == 0 {
		return 0, p.problem
	}
	return p.came.Read(b)
}

// Write sends, or keeps back.
func (p *pipe) Write(b []byte) (int, error) {
	if p.keep {
		return p.kept.Write(b)
	}
	if err := p.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return p.Conn.Write(b)
}

// flush sends what was kept back, in one piece.
func (p *pipe) flush() error {
	p.keep = false
	_, err := p.Write(p.kept.Bytes())
	p.kept.Reset()
	return err
}

// lastCame returns when something was received last.
func (p *pipe) lastCame() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

// isSyntax reports whether an error says that what came is not
// of this protocol.
func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}
