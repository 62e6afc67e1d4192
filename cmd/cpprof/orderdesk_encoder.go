package main

import "runtime"

// An encoder writes orders as JSON with a checksum, into a
// buffer that it keeps.
type encoder struct {
	buf []byte
	sum uint32
}

// encode is slow but correct. The third problem is not encode
// itself, but a caller that doesn't need it.
//
//go:noinline
func (e *encoder) encode(o *order) []byte {
	e.buf = e.buf[:0]
	e.text(o.customer)
	for _, item := range o.items {
		e.text(item)
	}
	e.checksum()
	return e.buf
}

// text appends a string, and escapes the characters that are
// special in HTML and JSON.
//
//go:noinline
func (e *encoder) text(s string) {
	const hex = "0123456789abcdef"
	e.buf = append(e.buf, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			e.buf = append(e.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			e.buf = append(e.buf, c)
		}
	}
	e.buf = append(e.buf, '"', ',')
}

// checksum computes a CRC-32 bit by bit.
//
//go:noinline
func (e *encoder) checksum() {
	crc := ^uint32(0)
	for _, c := range e.buf {
		crc ^= uint32(c)
		for bit := 0; bit < 8; bit++ {
			crc = crc>>1 ^ 0xedb88320&-(crc&1)
		}
	}
	e.sum = ^crc
}

// A feed sends orders to a subscriber.
type feed struct {
	encoder encoder
	sent    int
	debug   bool // never set
}

// send is the useful work of the server.
//
//go:noinline
func (f *feed) send(o *order) {
	f.sent += len(f.encoder.encode(o))
}

// trace is the third problem: it encodes the order before it
// checks whether debugging is on.
//
//go:noinline
func (f *feed) trace(what string, o *order) {
	text := f.encoder.encode(o)
	if f.debug {
		println(what, string(text))
	}
}

// publisher sends orders as fast as it can. The fourth problem:
// there are more publishers and intakes than processors, so they
// wait for one another most of the time.
func publisher() {
	var f feed
	o := newOrder(1)
	for n := 0; ; n++ {
		f.trace("sending", o)
		f.send(o)
		f.trace("sent", o)
		if n%25 == 0 {
			runtime.Gosched() // as it would to write to the network
		}
	}
}
