// Planted has programs that are slow for a known reason, and for each a healthy twin that does the same without the reason. The
// first argument names the program; with "healthy" as the second one, it is the twin.
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

var programs = map[string]func(healthy bool){
	"lock": lockOverIO, "queue": quadraticQueue, "encoder": encodeInVain, "runnable": tooManyRunnable, "allocation": allocate,
	"pipeline": slowStage, "leak": leak, "pool": smallPool, "assist": assist, "syscall": callKernel, "phase": coldPhase,
	"straggler": straggler, "retry": retryPool, "retrylock": retryLocks, "handshakes": handshakes, "far": farServer,
	"answers": askOverHTTP, "rare": rareSync, "writer": slowWriter,
	"spin": spinning, "writers": starvingWriters, "log": logUnderLock, "timers": timersInLoop, "defer": deferInLoop,
	"emptypool": emptyPool, "finalizers": slowFinalizers, "dns": lookUps,
}

func main() {
	runtime.GOMAXPROCS(2)
	program := programs[os.Args[1]]
	if program == nil {
		fmt.Fprintln(os.Stderr, "no such program")
		os.Exit(2)
	}
	program(len(os.Args) > 2 && os.Args[2] == "healthy")
	fmt.Println("ready")
	time.Sleep(5 * time.Minute)
}

// must ends the program if something that it needs can't be had.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// spin computes for some thousand steps.
//
//go:noinline
func spin(steps int) (sum int) {
	for i := range steps * 1000 {
		sum += i * i
	}
	return sum
}

var sink int

// pace waits until the next piece of work is due.
const pace = 5 * time.Millisecond
