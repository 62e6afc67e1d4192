package sampler

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Strangers who take all names neither keep a recording from
// being made nor flood it with messages.
func TestStrangersAmongPeers(t *testing.T) {
	p := ourselves(t)
	var all []net.Listener
	for i := range peerNames {
		l := fixture.Must(net.Listen("unix", fmt.Sprintf("@cpprof/%d/%d/%d", p.PID, p.from.Start, i)))(t)
		defer l.Close()
		all = append(all, l)
	}
	m := meetPeers(p)
	defer m.close()
	if m.listener != nil {
		t.Error("a name was free")
	}
	if peer, ok := m.next(); ok {
		t.Errorf("this process is its own peer: %v", peer)
	}
	for _, l := range all {
		l.Close()
	}
	other := meetPeers(p)
	if other.listener == nil {
		t.Fatal("the names are taken, although nobody has them any more")
	}
	for range 2 * maxPeers { // more than are accepted
		if c, err := net.Dial("unix", other.listener.Addr().String()); err == nil {
			c.Close()
		}
	}
	other.close()
	if other.has(os.Getpid()) || other.has(0) {
		t.Error("this process is its own peer")
	}
}

func TestPeerIsNamed(t *testing.T) {
	for want, p := range map[string]Peer{
		"process 4711 (cpprof)":          {4711, "cpprof"},
		"process 4711":                   {4711, ""},
		"a process in another container": {},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
