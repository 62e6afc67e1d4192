// Silent has a goroutine whose labels lie in a page that never answers a read. Its argument says why: "userfaultfd" watches the
// page ("heap": one of Go's heap, and a goroutine is stuck for good), the page belongs to a file of a file system that is a program ("fuse"), or the page comes and goes until somebody waits for
// it ("vanishing", from SIGUSR1 on; the program then writes "!"). With "executable", the program starts itself from such a file system, which
// answers until that has begun; the first line is then the process id. The program's arguments lie there as well, if
// that is permitted. The first line of the output is the address of the page. Then the program writes a dot every 10 ms, which
// shows that it runs. If the machine refuses such a page, the program says so and ends.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/testdata/programs/silent/page"
)

var begin = make(chan os.Signal, 1)

func main() {
	switch os.Args[1] {
	case "executable":
		startFrom(os.Args[2])
		return
	case "started":
		const all = 1 | 2 // MCL_CURRENT, MCL_FUTURE: nothing of it is read again
		if err := syscall.Mlockall(all); err != nil {
			fmt.Printf("refused: %v\n", err)
			return
		}
		fmt.Println(os.Getpid())
		writeDots()
	}
	signal.Notify(begin, syscall.SIGUSR1)
	at, err := uintptr(0), error(nil)
	labels := func(at uintptr) {
		page.Label(at)
		select {}
	}
	if os.Args[1] == "vanishing" {
		at, err = page.Vanishing(func() { os.Stdout.WriteString("!") })
		labels = relabel
	} else {
		at, err = page.New(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Printf("refused: %v\n", err)
		return
	}
	go labels(at)
	if os.Args[1] == "heap" {
		go receive(make(chan int))
	}
	time.Sleep(100 * time.Millisecond) // all wait by then
	fmt.Printf("%#x, arguments moved: %v\n", at, os.Args[1] != "vanishing" && page.MoveArguments(at))
	writeDots()
}

//go:noinline
func receive(c chan int) { <-c }

func writeDots() {
	for range time.Tick(10 * time.Millisecond) {
		os.Stdout.WriteString(".")
	}
}

// startFrom starts the program anew from a file system, which is silent then.
func startFrom(place string) {
	silence, err := page.Executable(place)
	if err != nil {
		fmt.Printf("refused: %v\n", err)
		return
	}
	c := exec.Command(place, "started")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		fmt.Printf("refused: %v\n", err)
		return
	}
	from := bufio.NewReader(out)
	line, _ := from.ReadString('\n')
	silence()
	os.Stdout.WriteString(line)
	io.Copy(os.Stdout, from)
}

// relabel changes the labels of its goroutine all the time, since a sampler reads labels that it knows only once. It waits
// for SIGUSR1: a recorder that is held up before its first sample writes none.
func relabel(at uintptr) {
	<-begin
	for i := uintptr(0); ; i++ {
		page.Label(at + i%64*16)
		time.Sleep(100 * time.Microsecond)
	}
}
