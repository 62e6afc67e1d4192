// Grower waits for SIGUSR1, then uses half a second of processor time and fills 64 MiB of memory, prints the processor time
// that it has used so far, in nanoseconds, and waits again.
package main

import (
	"fmt"
	"os"
	"os/signal"
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

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	fmt.Println("ready")
	<-c
	grow()
	burn(500 * time.Millisecond)
	fmt.Println(int64(used()))
	<-c
}
