// Threads uses processor time on a thread of its own, waits for SIGUSR1, and ends that thread. Then it prints the processor
// time that all its threads have used, in nanoseconds, and waits.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

var sum int

func used(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	burned, end, ended := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocks it: the thread ends with the goroutine
		for begin := used(syscall.RUSAGE_SELF); used(syscall.RUSAGE_SELF)-begin < 300*time.Millisecond; {
			sum++
		}
		close(burned)
		<-end
	}()
	<-burned
	fmt.Println("ready")
	<-c
	close(end)
	<-ended
	time.Sleep(50 * time.Millisecond)
	fmt.Println(int64(used(syscall.RUSAGE_SELF)))
	<-c
}
