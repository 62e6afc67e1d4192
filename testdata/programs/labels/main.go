// Labels: goroutines with pprof labels, one of which a child inherits, and one without any.
package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"time"
)

func main() {
	ready := make(chan bool)
	for _, route := range []string{"/api", "/static"} {
		go pprof.Do(context.Background(), pprof.Labels("route", route, "method", "GET"), func(context.Context) {
			labelled(ready)
		})
	}
	go pprof.Do(context.Background(), pprof.Labels("route", "/parent"), func(context.Context) {
		go child(ready)
		<-make(chan bool)
	})
	go plain(ready)
	for range 4 {
		<-ready
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // a program that only waits for itself would be ended as deadlocked
}

//go:noinline
func labelled(ready chan bool) {
	ready <- true
	select {}
}

func child(ready chan bool) {
	ready <- true
	select {}
}

func plain(ready chan bool) {
	ready <- true
	select {}
}
