// Regression: four workers add lines to a journal under its lock, and work on their own in between. With the argument
// "copy", each line is preceded by a copy of the whole journal, made while the lock is held: the regression that a comparison
// of two recordings has to find.
package main

import (
	"fmt"
	"os"
	"sync"
)

type journal struct {
	mu      sync.Mutex
	text    []byte
	version []byte // the text that readers see
	copies  bool
}

func main() {
	j := &journal{text: make([]byte, 4<<20), version: make([]byte, 4<<20), copies: len(os.Args) > 1 && os.Args[1] == "copy"}
	for range 4 {
		go worker(j)
	}
	fmt.Println("ready")
	select {}
}

func worker(j *journal) {
	line := make([]byte, 64)
	for {
		line = work(line)
		j.add(line)
	}
}

// work moves no memory: all of that is in publish.
//
//go:noinline
func work(line []byte) []byte {
	for range 5000 {
		sum := uint64(14695981039346656037)
		for i := range line {
			sum = (sum ^ uint64(line[i])) * 1099511628211
			line[i] = byte(sum >> 32)
		}
	}
	return line
}

//go:noinline
func (j *journal) add(line []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.copies {
		j.publish()
	}
	copy(j.text, line)
}

// publish makes the needless copy.
//
//go:noinline
func (j *journal) publish() { copy(j.version, j.text) }
