// Grower waits for SIGUSR1, then uses half a second of processor time and fills 64 MiB of memory, prints the processor time
// that it has used so far, in nanoseconds, and waits again. With the argument "thread", it uses processor time on a thread of
// its own before, and ends that thread at the signal instead.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

var (
	kept [][]byte
	sum  int
)

func grow() {
	for range 64 {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = byte(i)
		}
		kept = append(kept, block)
	}
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func burn(d time.Duration) {
	for begin := used(); used()-begin < d; {
		for range 1_000_000 {
			sum++
		}
	}
}

// burnApart uses processor time on a thread of its own, and returns what ends the thread.
func burnApart() (end func()) {
	burned, ends, ended := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocks it: the thread ends with the goroutine
		burn(300 * time.Millisecond)
		close(burned)
		<-ends
	}()
	<-burned
	return func() {
		close(ends)
		<-ended
		time.Sleep(50 * time.Millisecond)
	}
}

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	work := func() {
		grow()
		burn(500 * time.Millisecond)
	}
	if len(os.Args) > 1 {
		work = burnApart()
	}
	fmt.Println("ready")
	<-c
	work()
	fmt.Println(int64(used()))
	<-c
}
