package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"time"

	"github.com/jackc/pgconn"
)

func main() {
	address := elsewhere(accept(answer))
	work(1, time.Millisecond, func() { load(address) })
}

// answer sends rows slowly if it is asked for them, or else says what a database
// says to somebody who copies rows into it.
func answer(c net.Conn) {
	buffer := make([]byte, 1<<16)
	n, _ := c.Read(buffer)
	for bytes.HasPrefix(buffer[:n], []byte("rows")) {
		time.Sleep(100 * time.Millisecond)
		io.WriteString(c, "1\tone\n")
	}
	io.WriteString(c, "R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I") // welcome
	c.Read(buffer)
	io.WriteString(c, "G\x00\x00\x00\x07\x00\x00\x00") // send rows
	io.Copy(io.Discard, c)
}

func load(address string) {
	rows, err := net.Dial("tcp", address)
	check(err)
	io.WriteString(rows, "rows")
	c, err := pgconn.Connect(context.Background(), "postgres://user@"+address+"/db?sslmode=disable")
	check(err)
	_, err = c.CopyFrom(context.Background(), rows, "copy numbers from stdin")
	check(err)
}
