package main

import (
	"encoding/binary"
	"io"
	"net"
	"time"

	"gopkg.in/mgo.v2"
)

func main() {
	address := elsewhere(accept(answer))
	session, err := mgo.DialWithInfo(&mgo.DialInfo{Addrs: []string{address}, Direct: true, PoolLimit: 4})
	check(err)
	work(16, 10*time.Millisecond, func() { find(session.Copy()) })
}

// answer sends the same document to each query.
func answer(c net.Conn) {
	document := []byte("\x00\x00\x00\x00\x02nonce\x00\x02\x00\x00\x001\x00\x08ismaster\x00\x01\x01ok\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00")
	document[0] = byte(len(document))
	for {
		var header [16]byte
		if _, err := io.ReadFull(c, header[:]); err != nil {
			return
		}
		io.CopyN(io.Discard, c, int64(binary.LittleEndian.Uint32(header[:]))-16)
		time.Sleep(5 * time.Millisecond)
		reply := make([]byte, 36)
		binary.LittleEndian.PutUint32(reply, uint32(36+len(document)))
		copy(reply[8:], header[4:8]) // to what
		reply[12], reply[32] = 1, 1  // a reply, of one document
		c.Write(append(reply, document...))
	}
}

func find(session *mgo.Session) {
	defer session.Close()
	var document struct{ Ok bool }
	check(session.DB("db").C("orders").Find(nil).One(&document))
}
