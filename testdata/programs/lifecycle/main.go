// Lifecycle ends in the way that its argument says. "exit N" ends at once with the status N. "stdin" ends when its standard
// input ends. The others end on SIGUSR1: "exec" executes itself as "wait", "crash" kills itself, "panic" panics, "quit" ends
// with status 7, "end" with status 0, and "wait" does not end. Every 10 ms the program writes a dot, which shows that it runs.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	mode := os.Args[1]
	if mode == "exit" {
		status, err := strconv.Atoi(os.Args[2])
		if err != nil {
			status = 2
		}
		os.Exit(status)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	fmt.Println("ready")
	go tick()
	if mode == "stdin" {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			os.Exit(2)
		}
		fmt.Printf("read %q\n", text)
		os.Exit(5)
	}
	<-c
	switch mode {
	case "exec":
		self, err := os.Executable()
		if err == nil {
			err = syscall.Exec(self, []string{self, "wait"}, os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
	case "crash":
		signal.Reset()
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "panic":
		panic("as asked")
	case "quit":
		os.Exit(7)
	case "end":
		os.Exit(0)
	}
	select {}
}

func tick() {
	for range time.Tick(10 * time.Millisecond) {
		os.Stdout.WriteString(".")
	}
}
