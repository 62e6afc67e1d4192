package main

import (
	"bytes"
	"fmt"
	"net"
	"time"

	"github.com/go-redsync/redsync"
	"github.com/gomodule/redigo/redis"
)

// Five servers answer after 3 ms.
func main() {
	address := elsewhere(accept(serve))
	dial := func() (redis.Conn, error) { return redis.Dial("tcp", address) }
	var servers []redsync.Pool
	for range 5 {
		servers = append(servers, &redis.Pool{MaxIdle: 16, Dial: dial})
	}
	locks := redsync.New(servers)
	crew(4, 2*time.Millisecond, func(n int) func() {
		return func() { book(locks.NewMutex(fmt.Sprint("job-", n))) }
	})
}

func book(m *redsync.Mutex) {
	check(m.Lock())
	defer m.Unlock()
	time.Sleep(time.Millisecond)
}

func serve(c net.Conn) {
	each(c, func(request []byte) {
		time.Sleep(3 * time.Millisecond)
		if bytes.Contains(request, []byte("SET")) {
			fmt.Fprint(c, "+OK\r\n")
		} else {
			fmt.Fprint(c, ":1\r\n")
		}
	})
}
