package main

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

func main() {
	client := memcache.New(elsewhere(accept(serve)))
	client.Timeout = time.Second
	set(client, "MaxIdleConns", 16)
	work(8, time.Millisecond, func() {
		_, err := client.Get("user")
		check(err)
	})
}

// serve answers in a millisecond.
func serve(c net.Conn) {
	defer c.Close()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		time.Sleep(time.Millisecond)
		fmt.Fprint(c, "VALUE user 0 5\r\nhello\r\nEND\r\n")
	}
}
