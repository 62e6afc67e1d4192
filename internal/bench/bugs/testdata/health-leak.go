package main

import (
	"context"
	"net"
	"time"

	"github.com/hellofresh/health-go/v5"
)

// One of two services that are asked for their health answers too late.
func main() {
	address := elsewhere(accept(serve))
	probe := func(name string) health.Config {
		ping := func(context.Context) error { return ask(address, name) }
		return health.Config{Name: name, Timeout: 20 * time.Millisecond, Check: ping}
	}
	h, err := health.New(health.WithComponent(health.Component{Name: "shop"}),
		health.WithChecks(probe("slow"), probe("quick")))
	check(err)
	work(1, 5*time.Millisecond, func() { h.Measure(context.Background()) })
}

func ask(address, name string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte{name[0]}); err != nil {
		return err
	}
	_, err = c.Read([]byte{0})
	return err
}

func serve(c net.Conn) {
	defer c.Close()
	name := []byte{0}
	c.Read(name)
	if name[0] == 's' {
		time.Sleep(40 * time.Millisecond)
	}
	c.Write(name)
}
