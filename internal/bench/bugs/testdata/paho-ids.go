package main

import (
	"net"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

// Sensors publish without waiting, and the broker acknowledges late.
func main() {
	options := mqtt.NewClientOptions().AddBroker("tcp://" + elsewhere(accept(broker)))
	client := mqtt.NewClient(options.SetClientID("sensors"))
	connected := client.Connect()
	connected.Wait()
	check(connected.Error())
	work(8, time.Millisecond, func() { client.Publish("temperature", 1, false, "21.5") })
}

func broker(c net.Conn) {
	var mu sync.Mutex
	for {
		p, err := packets.ReadPacket(c)
		if err != nil {
			return
		}
		switch p := p.(type) {
		case *packets.ConnectPacket:
			packets.NewControlPacket(packets.Connack).Write(c)
		case *packets.PublishPacket:
			ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
			ack.MessageID = p.MessageID
			time.AfterFunc(2*time.Second, func() {
				mu.Lock()
				defer mu.Unlock()
				ack.Write(c)
			})
		}
	}
}
