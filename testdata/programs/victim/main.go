// Victim does all that makes sampling dangerous: it computes, waits for the disk, makes threads that end soon, executes itself
// or crashes. It copies its input to its output, and answers each SIGUSR1 with a byte ACK on its standard error, so that
// who runs it sees whether a byte or a signal was lost. At its beginning it writes a byte SOH there.
package main

import (
	"flag"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

var (
	dir     = flag.String("dir", "", "write to a file in this folder, and wait for the disk each time")
	busy    = flag.Int("busy", 1, "goroutines that compute")
	parked  = flag.Int("parked", 10, "goroutines that wait for good")
	threads = flag.Int("threads", 0, "threads to make and end in a second")
	again   = flag.Duration("again", 0, "execute the program again after so long")
	crash   = flag.Duration("crash", 0, "crash after so long")
)

func main() {
	flag.Parse()
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, syscall.SIGUSR1)
	os.Stderr.Write([]byte{1})
	for range *parked {
		go func() { select {} }()
	}
	for range *busy {
		go compute()
	}
	if *dir != "" {
		go write(filepath.Join(*dir, "file"))
	}
	if *threads > 0 {
		go makeThreads(time.Second / time.Duration(*threads))
	}
	if *again > 0 {
		time.AfterFunc(*again, func() { panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ())) })
	}
	if *crash > 0 {
		time.AfterFunc(*crash, func() { panic("as asked for") })
	}
	go func() {
		for range signals {
			os.Stderr.Write([]byte{6})
		}
	}()
	if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
		panic(err)
	}
}

func compute() {
	for n := 0; ; n++ {
		if n%1000 == 0 {
			time.Sleep(time.Millisecond)
		}
		_ = make([]byte, n%1000)
	}
}

func write(path string) {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	for {
		if _, err := f.WriteAt(make([]byte, 4096), 0); err != nil {
			panic(err)
		}
		if err := f.Sync(); err != nil {
			panic(err)
		}
	}
}

func makeThreads(interval time.Duration) {
	for range time.Tick(interval) {
		go runtime.LockOSThread() // the thread ends with the goroutine
	}
}
