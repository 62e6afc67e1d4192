package main

import (
	"time"

	"github.com/asaskevich/EventBus"
)

// A mail takes 10 ms and is sent serially in the background; metrics are quick.
func main() {
	bus := EventBus.New()
	check(bus.SubscribeAsync("mail", mail, true))
	check(bus.Subscribe("metric", count))
	kinds := []func(){func() { bus.Publish("mail", "hello") }}
	for range 5 {
		metric := new(int)
		kinds = append(kinds, func() { bus.Publish("metric", metric) })
	}
	workers(2*time.Millisecond, kinds...)
}

func mail(string) { time.Sleep(10 * time.Millisecond) }

func count(metric *int) { *metric++ }
