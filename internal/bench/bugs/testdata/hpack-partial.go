package main

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/http2/hpack"
)

// block is one header whose long name comes first.
var block = func() []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.WriteField(hpack.HeaderField{Name: strings.Repeat("a", 20_000), Value: strings.Repeat("b", 20_000)})
	return b.Bytes()
}()

func main() { work(1, 20*time.Millisecond, handle) }

// handle decodes it as it comes from a network, in small frames.
func handle() {
	d := hpack.NewDecoder(4096, func(hpack.HeaderField) {})
	for at := 0; at < len(block); at += 16 {
		d.Write(block[at:min(at+16, len(block))])
	}
}
