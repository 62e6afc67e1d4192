// Timers has goroutines that wait for timers. Its functions are named after what ends their waits.
package main

import (
	"fmt"
	"time"
)

func main() {
	never, signals := make(chan struct{}), make(chan struct{})
	go timer(never)
	go ticker(never)
	go only()
	go signal(signals)
	go func() {
		for {
			time.Sleep(60 * time.Millisecond)
			signals <- struct{}{}
		}
	}()
	fmt.Println("ready")
	select {}
}

func timer(stop chan struct{}) {
	for {
		select {
		case <-time.After(120 * time.Millisecond):
		case <-stop:
			return
		}
	}
}

func ticker(stop chan struct{}) {
	t := time.NewTicker(90 * time.Millisecond)
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
	}
}

func only() {
	for range time.NewTicker(70 * time.Millisecond).C {
	}
}

func signal(signals chan struct{}) {
	for {
		select {
		case <-time.After(150 * time.Millisecond):
		case <-signals:
		}
	}
}
