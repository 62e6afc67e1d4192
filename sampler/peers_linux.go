//go:build amd64 || arm64

package sampler

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// peers finds out which other processes sample a target, and
// tells them about this one. Each sampler listens on a name. A
// few names are possible, made of the target's process id and
// start time. The sampler connects to all other names:
//
//	@cpprof/4711/1188760/0   the first sampler
//	@cpprof/4711/1188760/1   the second one; when it connects to the first, both know of each other
//
// These names are the kernel's ("abstract"): they are no files,
// are the same for all users, and end with the process that
// listens. Nothing is left behind. Anybody can use the names,
// but a misuse causes at worst a wrong message, or none.
type peers struct {
	listener net.Listener // nil if all names are taken
	found    chan Peer    // to be reported

	mu  sync.Mutex
	met map[int]bool // by process id
}

const (
	peerNames   = 8  // number of samplers of one target that know of each other
	maxPeers    = 32 // number of connections that are accepted
	peerPatient = time.Second
)

// meetPeers begins to listen, and connects to those who listen already.
func meetPeers(p *Process) *peers {
	if p.Elsewhere {
		return &peers{}
	}
	from := p.from.Stat
	if from.PID == 0 {
		from, _ = halt.ReadStat(p.PID)
	}
	name := func(i int) string { return fmt.Sprintf("@cpprof/%d/%d/%d", p.PID, from.Start, i) }
	m, own := &peers{found: make(chan Peer, peerNames+maxPeers), met: map[int]bool{}}, -1
	for i := range peerNames {
		l, err := net.Listen("unix", name(i))
		if err == nil {
			m.listener, own = l, i
			go m.accept(l)
			break
		}
	}
	for i := range peerNames {
		if i == own {
			continue
		}
		if c, err := net.DialTimeout("unix", name(i), peerPatient); err == nil {
			m.meet(c)
		}
	}
	return m
}

func (m *peers) accept(l net.Listener) {
	for range maxPeers {
		c, err := l.Accept()
		if err != nil {
			return
		}
		m.meet(c)
	}
	l.Close()
}

// meet takes note of the process at the other end of a
// connection, as the kernel knows it.
func (m *peers) meet(c net.Conn) {
	defer c.Close()
	conn, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return
	}
	var who *unix.Ucred
	if conn.Control(func(fd uintptr) {
		who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}) != nil || err != nil {
		return
	}
	pid := int(who.Pid)
	if pid == os.Getpid() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.met[pid] {
		m.met[pid] = true
		m.found <- Peer{PID: pid, Name: commOf(pid)} // there is room for all connections
	}
}

// next returns a peer that it has not returned before.
func (m *peers) next() (p Peer, ok bool) {
	select {
	case p := <-m.found:
		return p, true
	default:
		return Peer{}, false
	}
}

// has reports whether a process is a peer; for 0, whether there is any.
func (m *peers) has(pid int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.met[pid] || pid == 0 && len(m.met) > 0
}

func (m *peers) close() {
	if m.listener != nil {
		m.listener.Close()
	}
}
