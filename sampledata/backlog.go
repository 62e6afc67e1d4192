package sampledata

import (
	"io"
	"sync"
)

// maxBacklog bounds the bytes that wait to be written: above it,
// callers of Write wait, too.
const maxBacklog = 64 << 20

// A backlog writes to files in the background, in the order of
// the calls of Write: if the disk is busy, perhaps with the
// target's own work, this must not keep the sampler from taking
// samples.
type backlog struct {
	mu      sync.Mutex
	changed sync.Cond // signals that a chunk was added or written, or that the backlog was closed
	chunks  []chunk
	size    int // of the chunks, including the one that is being written
	closed  bool
	err     error // the first error; nothing is written after it
	done    chan struct{}
}

type chunk struct {
	to   io.Writer
	data []byte
}

func newBacklog() *backlog {
	b := &backlog{done: make(chan struct{})}
	b.changed.L = &b.mu
	go b.run()
	return b
}

// A queued writes to its writer through the backlog.
type queued struct {
	b  *backlog
	to io.Writer
}

// Write copies the data and returns at once. An error is from an
// earlier write.
func (q queued) Write(data []byte) (int, error) {
	b := q.b
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size > maxBacklog && b.err == nil {
		b.changed.Wait()
	}
	if b.err != nil {
		return 0, b.err
	}
	b.chunks = append(b.chunks, chunk{q.to, append([]byte(nil), data...)})
	b.size += len(data)
	b.changed.Broadcast()
	return len(data), nil
}

// failed returns the error of an earlier write.
func (b *backlog) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// wait waits until everything is written, or a write has failed.
func (b *backlog) wait() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size > 0 {
		b.changed.Wait()
	}
	return b.err
}

// close waits as wait does, and ends the backlog.
func (b *backlog) close() error {
	b.mu.Lock()
	b.closed = true
	b.changed.Broadcast()
	b.mu.Unlock()
	<-b.done
	return b.err
}

func (b *backlog) run() {
	defer close(b.done)
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for len(b.chunks) == 0 {
			if b.closed {
				return
			}
			b.changed.Wait()
		}
		c := b.chunks[0]
		b.chunks = b.chunks[1:]
		err := b.err
		if err == nil {
			b.mu.Unlock()
			_, err = c.to.Write(c.data)
			b.mu.Lock()
		}
		b.size -= len(c.data)
		b.err = err
		b.changed.Broadcast()
	}
}
