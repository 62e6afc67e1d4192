package monitor

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Connections of this process with itself are counted, also from
// IPv4 to a listener of both: each once, and not those with others.
func TestOwnConnections(t *testing.T) {
	l := fixture.Must(net.Listen("tcp", ":0"))(t)
	defer l.Close()
	r, err := ownConnections.Open(Target{PID: os.Getpid()})
	if errors.Is(err, errManySockets) {
		t.Skipf("other programs have closed connections here: %v", err)
	}
	fixture.Check(t, err)
	defer r.Close()
	counted := func() int64 {
		values, err := r.Read(nil)
		if err != nil || len(values) != 1 {
			t.Fatal(values, err)
		}
		n, _ := values[0].Float()
		return int64(n)
	}
	before := counted()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for range 3 {
		c := fixture.Must(net.Dial("tcp", "127.0.0.1:"+port))(t)
		defer c.Close()
		s := fixture.Must(l.Accept())(t)
		defer s.Close()
	}
	if got := counted() - before; got != 3 {
		t.Errorf("%d connections, want 3", got)
	}
}

// It is not measured if there is too much to look through.
func TestOwnConnectionsOfMany(t *testing.T) {
	dir := t.TempDir()
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for range maxFiles + 1 {
		f, err := os.Open(dir)
		if err != nil {
			t.Skipf("so many files can't be opened here: %v", err)
		}
		files = append(files, f)
	}
	if _, err := ownConnections.Open(Target{PID: os.Getpid()}); !errors.Is(err, errManySockets) {
		t.Errorf("the error is %v", err)
	}
}
