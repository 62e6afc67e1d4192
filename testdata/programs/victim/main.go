// Victim does all that makes sampling dangerous: it computes, waits for locks and for the disk, makes threads that end soon,
// executes itself or crashes. It copies its input to its output. On its standard error it writes a byte SOH when it begins,
// a byte ACK for each SIGUSR1, and a byte STX for each piece of work done. So who runs it sees whether a byte or a signal
// was lost, and how fast it is.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/testdata/programs/silent/page"
)

var (
	dir     = flag.String("dir", "", "write to files in this folder, and wait for the disk each time")
	busy    = flag.Int("busy", 0, "goroutines that compute")
	parked  = flag.Int("parked", 10, "goroutines that wait for good")
	lockers = flag.Int("lockers", 0, "goroutines that want one mutex")
	threads = flag.Int("threads", 0, "threads to make and end in a second")
	again   = flag.Duration("again", 0, "execute the program again after so long")
	crash   = flag.Duration("crash", 0, "crash after so long")
	silent  = flag.Bool("silent", false, "have a page that never answers a read, if the machine permits that")
)

// What the program writes on its standard error.
var begun, worked, answered = []byte{1}, []byte{2}, []byte{6}

func main() {
	flag.Parse()
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, syscall.SIGUSR1)
	os.Stderr.Write(begun)
	if *silent {
		if at, err := page.New("userfaultfd", ""); err == nil {
			go func() {
				page.Label(at)
				select {}
			}()
		}
	}
	for range *parked {
		go func() { select {} }()
	}
	for range *busy {
		go func() {
			for {
				compute()
			}
		}()
	}
	for range *lockers {
		go lock()
	}
	for i := 0; *dir != "" && i < 4; i++ {
		go write(filepath.Join(*dir, fmt.Sprint("file", i)))
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
	go work()
	go func() {
		for range signals {
			os.Stderr.Write(answered)
		}
	}()
	if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
		panic(err)
	}
}

func work() {
	for {
		compute()
		os.Stderr.Write(worked)
		time.Sleep(time.Millisecond)
	}
}

// compute takes a tenth of a millisecond or so, and leaves some garbage.
//
//go:noinline
func compute() (sum int) {
	for n := range 300 {
		for _, v := range make([]int, n) {
			sum += v
		}
	}
	return sum
}

var mutex sync.Mutex

func lock() {
	for {
		mutex.Lock()
		compute()
		mutex.Unlock()
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
