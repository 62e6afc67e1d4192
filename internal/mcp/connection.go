package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a message.
const (
	maxLine = 16 << 20 // bytes of a line
	maxID   = 1 << 10  // bytes of the id of a request, which its answer repeats
)

// A connection has one message a line, in both directions. It
// refuses what is no message, and goes on.
type connection struct {
	in *bufio.Reader
	// is called when the input ends: what the client has asked
	// for is not wanted any more
	end func()

	messages chan jsonrpc.Message // closed when the input ends
	closed   chan struct{}
	once     sync.Once

	mu  sync.Mutex // of out
	out io.Writer
}

func newConnection(in io.Reader, out io.Writer, end func()) *connection {
	return &connection{
		in: bufio.NewReaderSize(in, 64<<10), out: out, end: end,
		messages: make(chan jsonrpc.Message), closed: make(chan struct{}),
	}
}

// Connect implements sdk.Transport.
func (c *connection) Connect(context.Context) (sdk.Connection, error) {
	go c.readAll()
	return c, nil
}

// SessionID implements sdk.Connection: there is one session only.
func (c *connection) SessionID() string { return "" }

// Close implements sdk.Connection. It does not close the input,
// which may be a terminal's or a parent's.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// ended reports whether the input has ended, or the connection was closed.
func (c *connection) ended() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// Read implements sdk.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.messages:
		if ok {
			return m, nil
		}
	case <-ctx.Done():
	case <-c.closed:
	}
	return nil, io.EOF
}

// Write implements sdk.Connection.
func (c *connection) Write(_ context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok && r.Error != nil {
		m = &jsonrpc.Response{ID: r.ID, Error: bounded(r.Error)}
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.write(text)
}

func (c *connection) write(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(line, '\n'))
	return err
}

// readAll passes the messages on until the input ends.
func (c *connection) readAll() {
	defer c.Close()
	defer c.end()
	defer close(c.messages)
	for {
		line, err := c.line()
		if len(line) > 0 {
			m, refused := decode(line)
			if refused != nil {
				_ = c.write(refused.answer())
			} else {
				select {
				case c.messages <- m:
				case <-c.closed:
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// line reads a line, without the spaces around it. A line that
// is too long keeps one byte more than it may have.
func (c *connection) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-len(line))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case len(line) > maxLine:
			return line, err
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// A refusal says why a line is no message.
type refusal struct {
	code int64
	id   json.RawMessage // of the request; nil if it is not known
	why  string
}

// decode returns the message of a line, or why there is none.
func decode(line []byte) (jsonrpc.Message, *refusal) {
	if len(line) > maxLine {
		return nil, &refusal{jsonrpc.CodeInvalidRequest, nil,
			fmt.Sprintf("the line has more than %d MB", maxLine>>20)}
	}
	var any json.RawMessage
	if err := json.Unmarshal(line, &any); err != nil {
		return nil, &refusal{jsonrpc.CodeParseError, nil, "the line is not JSON: " + err.Error()}
	}
	if line[0] == '[' {
		return nil, &refusal{jsonrpc.CodeInvalidRequest, nil,
			"the line is a list: send one message a line"}
	}
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(line, &of) // an id that can't be read is not known
	if len(of.ID) > maxID {
		return nil, &refusal{jsonrpc.CodeInvalidRequest, nil,
			fmt.Sprintf("the id has more than %d bytes", maxID)}
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		if len(of.ID) > 0 && of.ID[0] != '"' && (of.ID[0] < '0' || of.ID[0] > '9') &&
			of.ID[0] != '-' {
			of.ID = nil // JSON-RPC knows texts and numbers
		}
		return nil, &refusal{jsonrpc.CodeInvalidRequest, of.ID,
			"the line is no message of JSON-RPC 2.0: " + err.Error()}
	}
	return m, nil
}

// answer returns the message that refuses a line. Without an id
// it has null, which jsonrpc.Response can't have.
func (r *refusal) answer() []byte {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": r.id,
		"error": jsonrpc.Error{Code: r.code, Message: shortened(r.why)},
	})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message"}}`)
	}
	return text
}
