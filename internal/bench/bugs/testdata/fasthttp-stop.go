package main

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"github.com/valyala/fasthttp"
)

func main() { work(2, 10*time.Millisecond, restart) }

// restart starts a server and shuts it down, while a client keeps its connection.
func restart() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	pong := func(ctx *fasthttp.RequestCtx) { ctx.WriteString("pong") }
	server := &fasthttp.Server{Handler: pong, IdleTimeout: time.Second}
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	check(err)
	defer c.Close()
	c.Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	_, err = http.ReadResponse(bufio.NewReader(c), nil)
	check(err)
	time.Sleep(5 * time.Millisecond)
	check(server.Shutdown())
	<-done
}
