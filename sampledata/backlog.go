package sampledata

import (
	"io"
	"sync"
)

// maxBacklog bounds what waits to be written, in bytes: beyond it, whoever writes waits too.
const maxBacklog = 64 << 20

// A backlog writes to files in the order in which it is told to, but behind its caller's back: a disk that is busy,
// perhaps with the target's own work, must not keep the sampler from taking samples.
type backlog struct {
	mu      sync.Mutex
	changed sync.Cond // something was put, written, or closed
	chunks  []chunk
	size    int // of the chunks, the one that is being written included
	closed  bool
	err     error // the first; nothing is written after it
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

// A queued writes to its writer by way of the backlog.
type queued struct {
	b  *backlog
	to io.Writer
}

// Write takes the data over. The error is that of an earlier write.
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

// failed gives the error of an earlier write.
func (b *backlog) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// wait waits until all that was put is written, or can't be.
func (b *backlog) wait() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size > 0 {
		b.changed.Wait()
	}
	return b.err
}

// close waits until all is written, or can't be.
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
