package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

const blockSize = 256 << 10 // bytes of the journal that are written at a time

// A journal collects orders and writes them to a slow disk, block by block.
//
// The first problem: flush holds the lock, which every worker needs, for as long as the disk takes. It would be
// enough to hold it while one block is exchanged for the next.
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

// add puts an order into the block that is written next.
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
		panic(err) // the other end is in this process
	}
	j.used = 0
	j.mu.Unlock()
}

// flusher writes what there is, again and again.
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
