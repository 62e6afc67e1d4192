package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"
)

// work runs goroutines that do pieces of work, with a pause between two.
func work(goroutines int, pause time.Duration, piece func()) {
	runtime.GOMAXPROCS(2)
	for range goroutines {
		go requests(pause, piece)
	}
	fmt.Println("ready")
	seconds, _ := strconv.ParseFloat(os.Getenv("CPU_SECONDS"), 64)
	length := time.Duration(seconds * float64(time.Second))
	time.Sleep(length + time.Second/2) // cpprof records first
	f, err := os.Create(os.Getenv("CPU_PROFILE"))
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(f)
	time.Sleep(length)
	pprof.StopCPUProfile()
	f.Close()
	fmt.Println("done")
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
}

func requests(pause time.Duration, piece func()) {
	for {
		time.Sleep(pause)
		piece()
	}
}
