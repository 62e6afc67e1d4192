// Labels: goroutines with pprof labels, a child that inherits a label, and a goroutine without labels.
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
	time.Sleep(time.Hour) // the runtime ends a program in which every goroutine waits
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
