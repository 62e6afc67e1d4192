package main

import (
	"os"
	"sync"
	"time"
)

// A journal collects lines, and a flusher writes them to a slow disk: while it holds the lock, or, in the twin, after it.
type journal struct {
	mu   sync.Mutex
	disk *os.File
	buf  []byte
	used int
}

func lockOverIO(healthy bool) {
	r, w, err := os.Pipe()
	must(r, err)
	go slowDisk(r)
	j := &journal{disk: w, buf: make([]byte, 256<<10)}
	for range 8 {
		go handler(j)
	}
	go flusher(j, healthy)
}

func handler(j *journal) {
	for {
		time.Sleep(pace)
		j.add("a line")
	}
}

//go:noinline
func (j *journal) add(line string) {
	j.mu.Lock()
	j.used = copy(j.buf, line)
	j.mu.Unlock()
}

func flusher(j *journal, healthy bool) {
	block := make([]byte, len(j.buf))
	for {
		time.Sleep(2 * pace)
		if healthy {
			j.swap(block)
		} else {
			j.flush()
		}
	}
}

//go:noinline
func (j *journal) flush() {
	j.mu.Lock()
	j.disk.Write(j.buf)
	j.mu.Unlock()
}

//go:noinline
func (j *journal) swap(block []byte) {
	j.mu.Lock()
	j.buf, block = block, j.buf
	j.mu.Unlock()
	j.disk.Write(block)
}

func slowDisk(r *os.File) {
	sector := make([]byte, 64<<10)
	for {
		time.Sleep(4 * pace)
		r.Read(sector)
	}
}
