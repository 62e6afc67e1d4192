//go:build linux

package main

import (
	"crypto/sha256"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// must ends the program if something that a workload needs can't be had.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Network: clients and servers over loopback.
func netEcho() {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go acceptor(l)
	for range 6 {
		go echoClient(must(net.Dial("tcp", l.Addr().String())))
	}
}

func acceptor(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go echoServer(c)
	}
}

func echoServer(c net.Conn) {
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		h := sha256.Sum256(b[:n])
		copy(b, h[:])
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

func echoClient(c net.Conn) {
	b := make([]byte, 1024)
	for k := 0; ; k++ {
		if _, err := c.Write(b); err != nil {
			return
		}
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		if k%64 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// Files: reads of pipes through the poller, reads that block in
// the kernel, writes with fsync.
func fileIO() {
	r, w, err := os.Pipe()
	must(r, err)
	go pipeWriter(w)
	go pipeReader(r)
	var fd [2]int
	must(fd, syscall.Pipe(fd[:]))
	go rawWriter(fd[1])
	go rawReader(fd[0])
	go fileSyncer()
	go fileReader()
	go kernelSleeper()
}

func pipeWriter(w *os.File) {
	b := make([]byte, 512)
	for {
		must(w.Write(b))
		time.Sleep(2 * time.Millisecond)
	}
}

func pipeReader(r *os.File) {
	b := make([]byte, 512)
	for {
		must(r.Read(b))
		spinFor(300 * time.Microsecond)
	}
}

func rawWriter(fd int) {
	b := make([]byte, 512)
	for {
		syscall.Write(fd, b)
		time.Sleep(3 * time.Millisecond)
	}
}

func rawReader(fd int) {
	b := make([]byte, 512)
	for {
		syscall.Read(fd, b)
		spinFor(300 * time.Microsecond)
	}
}

func fileSyncer() {
	f := must(os.CreateTemp("", "truth"))
	os.Remove(f.Name())
	b := make([]byte, 64<<10)
	for {
		must(f.WriteAt(b, 0))
		f.Sync()
		time.Sleep(time.Millisecond)
	}
}

func fileReader() {
	f := must(os.Open("/dev/zero"))
	b := make([]byte, 256<<10)
	for {
		for range 20 {
			must(f.Read(b))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func kernelSleeper() {
	ts := syscall.NsecToTimespec(4e6)
	for {
		syscall.Nanosleep(&ts, nil)
		spinFor(100 * time.Microsecond)
	}
}

// Many system calls that are short and don't block.
func syscalls() {
	start(2, shortCaller)
	go longCaller()
}

func shortCaller() {
	for {
		syscall.Getppid()
	}
}

func longCaller() {
	fd := int(must(os.Open("/dev/urandom")).Fd())
	b := make([]byte, 64<<10)
	for {
		syscall.Read(fd, b)
	}
}
