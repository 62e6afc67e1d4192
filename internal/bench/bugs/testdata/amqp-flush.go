package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Two channels of one connection publish small messages.
func main() {
	conn, err := amqp.Dial("amqp://guest:guest@" + elsewhere(accept(broker)) + "/")
	check(err)
	crew(2, 0, func(int) func() {
		ch, err := conn.Channel()
		check(err)
		return func() { publish(ch) }
	})
}

func publish(ch *amqp.Channel) {
	job := amqp.Publishing{Body: []byte("job 42")}
	check(ch.PublishWithContext(context.Background(), "", "jobs", false, false, job))
}

// broker says what one needs to publish.
func broker(c net.Conn) {
	r := bufio.NewReaderSize(c, 1<<16)
	r.Discard(len("AMQP0091"))
	method(c, 0, 10, 10, "\x00\x09\x00\x00\x00\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x05en_US")
	go func() {
		for range time.Tick(3 * time.Second) {
			c.Write([]byte{8, 0, 0, 0, 0, 0, 0, 0xce}) // a heartbeat
		}
	}()
	var header [7]byte
	payload := make([]byte, 1<<20)
	for {
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return
		}
		channel, size := binary.BigEndian.Uint16(header[1:]), binary.BigEndian.Uint32(header[3:])
		if _, err := io.ReadFull(r, payload[:size+1]); err != nil {
			return
		}
		switch [3]byte{header[0], payload[1], payload[3]} {
		case [3]byte{1, 10, 11}: // started
			method(c, 0, 10, 30, "\x07\xff\x00\x02\x00\x00\x00\x0a")
		case [3]byte{1, 10, 40}: // open
			method(c, 0, 10, 41, "\x00")
		case [3]byte{1, 20, 10}: // open a channel
			method(c, channel, 20, 11, "\x00\x00\x00\x00")
		}
	}
}

func method(c net.Conn, channel, class, method uint16, args string) {
	b := binary.BigEndian.AppendUint16([]byte{1}, channel)
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(args)))
	b = binary.BigEndian.AppendUint16(b, class)
	b = binary.BigEndian.AppendUint16(b, method)
	c.Write(append(append(b, args...), 0xce))
}
