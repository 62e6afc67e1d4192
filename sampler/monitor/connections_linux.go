//go:build amd64 || arm64

package monitor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/procfs"

	"github.com/cpprof/cpprof/sampledata"
)

// What is read is limited: the open files of the process, and the
// TCP sockets of its network. Most of those are of connections that
// were closed in the last minute; 30,000 take 60 ms.
const (
	maxFiles   = 4096
	maxSockets = 1 << 15
)

var errManySockets = fmt.Errorf("there are more than %d open files, or %d TCP sockets", maxFiles, maxSockets)

// connectionsEvery is how often they are counted. To list sockets
// takes the kernel some milliseconds, even if there are few.
const connectionsEvery = 5 * time.Second

// ownConnections counts the connections that a process has with
// itself: who waits for one may wait for its own goroutines.
var ownConnections = source(Source{Every: connectionsEvery}, []column[int]{
	{Monitor: kernel("process.own_connections", sampledata.Level, "",
		"/proc/PID/fd, /proc/PID/net/tcp, tcp6: connections with itself", connectionsEvery.String()),
		value: func(n *int) sampledata.Value { return sampledata.Number(int64(*n)) }},
}, func(t Target) (read func(*int) error, end func() error, err error) {
	p, err := procfs.NewProc(t.PID)
	if err != nil {
		return nil, nil, err
	}
	network, err := procfs.NewFS(fmt.Sprintf("%s/%d", procfs.DefaultMountPoint, t.PID))
	if err != nil {
		return nil, nil, err
	}
	return func(n *int) (err error) {
		*n, err = countOwn(p, network)
		return err
	}, nil, nil
})

// countOwn returns how many connections have both ends in the process.
func countOwn(p procfs.Proc, network procfs.FS) (n int, err error) {
	files, err := p.FileDescriptorsLen()
	if err != nil {
		return 0, err
	}
	if files > maxFiles || socketsOf(network) > maxSockets {
		return 0, errManySockets
	}
	targets, err := p.FileDescriptorTargets()
	if err != nil {
		return 0, err
	}
	own := make(map[string]bool)
	for _, t := range targets {
		own[t] = true
	}
	//lint:ignore SA1019 a netlink socket sees the network of this process, not of the target
	sockets, err := network.NetTCP()
	if err != nil {
		return 0, err
	}
	//lint:ignore SA1019 as above
	v6, err := network.NetTCP6()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	type ends struct{ local, remote netip.AddrPort }
	open := make(map[ends]bool)
	for _, s := range append(sockets, v6...) {
		if !own[fmt.Sprintf("socket:[%d]", s.Inode)] {
			continue
		}
		e := ends{address(s.LocalAddr, s.LocalPort), address(s.RemAddr, s.RemPort)}
		if open[ends{e.remote, e.local}] {
			n++
		}
		open[e] = true
	}
	return n, nil
}

// address returns an address of IPv4 in one way.
func address(ip net.IP, port uint64) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port))
}

// socketsOf returns the number of TCP sockets in a network, with
// those that wait until they are forgotten; 0 if it is not known.
func socketsOf(network procfs.FS) (n int) {
	for _, read := range []func() (*procfs.NetSockstat, error){network.NetSockstat, network.NetSockstat6} {
		stat, err := read()
		if err != nil {
			continue
		}
		for _, p := range stat.Protocols {
			if p.Protocol != "TCP" && p.Protocol != "TCP6" {
				continue
			}
			if n += p.InUse; p.TW != nil {
				n += *p.TW
			}
		}
	}
	return n
}
