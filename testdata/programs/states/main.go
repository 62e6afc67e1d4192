// States has goroutines in known states. Its first argument says in which. It says when it is ready, and goes on.
package main

import (
	"fmt"
	"os"
	"time"
)

var programs = map[string]func(){
	"contexts": contexts, "runnable": runnable, "collector": collector,
	"deep": deep, "labels": labels, "parked": parked, "timers": timers, "slowcall": slowcall,
}

func main() {
	program := programs[os.Args[1]]
	if program == nil {
		fmt.Fprintln(os.Stderr, "no such program")
		os.Exit(2)
	}
	program()
	fmt.Println("ready")
	time.Sleep(time.Hour) // the runtime ends a program in which every goroutine waits
}
