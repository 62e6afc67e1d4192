package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

const blockSize = 256 << 10 // bytes of the journal that are written at a time

// A journal collects orders and writes them to a slow disk,
// block by block.
//
// The first problem: flush holds the lock, which every worker
// needs, while the disk writes. It should hold the lock only
// while it exchanges one block for the next.
type journal struct {
	mu   sync.Mutex
	disk *os.File
	used int
	buf  []byte
}

func openJournal() (*journal, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go slowDisk(r)
	return &journal{disk: w, buf: make([]byte, blockSize)}, nil
}

// add appends an order to the block that flush writes next.
//
//go:noinline
func (j *journal) add(o *order) {
	j.mu.Lock()
	j.used += copy(j.buf[j.used:], strconv.Itoa(o.number))
	j.mu.Unlock()
}

// flush writes a block.
//
//go:noinline
func (j *journal) flush() {
	j.mu.Lock()
	if _, err := j.disk.Write(j.buf); err != nil {
		panic(err) // can't happen: the other end is in this process
	}
	j.used = 0
	j.mu.Unlock()
}

// flusher writes block after block.
//
//go:noinline
func flusher(j *journal) {
	for {
		time.Sleep(10 * time.Millisecond)
		j.flush()
	}
}

// slowDisk takes about 3 MB a second.
//
//go:noinline
func slowDisk(r *os.File) {
	sector := make([]byte, 64<<10)
	for {
		time.Sleep(20 * time.Millisecond)
		if _, err := r.Read(sector); err != nil {
			return
		}
	}
}
