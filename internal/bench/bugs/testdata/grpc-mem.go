package main

import (
	"bytes"
	"time"

	"google.golang.org/grpc/mem"
)

var message = bytes.Repeat([]byte("x"), 200)

// As in the report, a buffer has 32 kB, and little is read into it.
func main() {
	pool := mem.DefaultBufferPool()
	work(8, time.Millisecond, func() {
		for range 100 {
			receive(pool)
		}
	})
}

func receive(pool mem.BufferPool) {
	data := pool.Get(32 << 10)
	*data = (*data)[:copy(*data, message)]
	buffer := mem.NewBuffer(data, pool)
	handle(buffer)
	buffer.Free()
}

//go:noinline
func handle(b mem.Buffer) { _ = b.ReadOnlyData() }
