package sampledata

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A slow is a disk that blocks each write until the test frees it.
type slow struct {
	bytes.Buffer
	free chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	<-s.free
	return s.Buffer.Write(p)
}

// Write does not wait for the disk, and the data arrives in order.
func TestBacklogDoesNotWait(t *testing.T) {
	b := newBacklog()
	disk := &slow{free: make(chan struct{})}
	q := queued{b, disk}
	var want []byte
	for i := range 100 {
		p := []byte{byte(i), 'x'}
		fixture.Must(q.Write(p))(t)
		want = append(want, p...)
		p[1] = 'y' // the caller's again
	}
	close(disk.free)
	fixture.Check(t, b.close())
	if !bytes.Equal(disk.Bytes(), want) {
		t.Errorf("written %q, want %q", disk.Bytes(), want)
	}
}

type broken struct{ writes int }

var errBroken = errors.New("broken")

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errBroken
}

// After an error, nothing more is written, and all methods
// return the error.
func TestBacklogFails(t *testing.T) {
	b := newBacklog()
	disk := &broken{}
	q := queued{b, disk}
	fixture.Must(q.Write([]byte("a")))(t)
	if err := b.wait(); err != errBroken {
		t.Errorf("wait: %v", err)
	}
	if _, err := q.Write([]byte("b")); err != errBroken {
		t.Errorf("write: %v", err)
	}
	if err := b.close(); err != errBroken || disk.writes != 1 {
		t.Errorf("close: %v after %d writes", err, disk.writes)
	}
}

// The waiting data is bounded: when there is too much, Write
// waits for the disk.
func TestBacklogIsBounded(t *testing.T) {
	b := newBacklog()
	disk := &slow{free: make(chan struct{})}
	q := queued{b, disk}
	put := make(chan struct{})
	go func() {
		for range maxBacklog>>20 + 2 {
			q.Write(make([]byte, 1<<20))
		}
		close(put)
	}()
	disk.free <- struct{}{} // one is written: there is room for all but the last
	b.mu.Lock()
	size := b.size
	b.mu.Unlock()
	if size > maxBacklog+1<<20 {
		t.Errorf("%d bytes wait", size)
	}
	close(disk.free)
	<-put
	fixture.Check(t, b.close())
}
