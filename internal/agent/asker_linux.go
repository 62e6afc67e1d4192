package agent

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/sampler"
	"golang.org/x/sys/unix"
)

// userOf returns the user at the other end of a connection of this host.
func userOf(c net.Conn) (sampler.User, error) {
	switch c := c.(type) {
	case *net.UnixConn:
		return userOfSocket(c)
	case *net.TCPConn:
		return userOfPort(c.RemoteAddr().(*net.TCPAddr).AddrPort(),
			c.LocalAddr().(*net.TCPAddr).AddrPort())
	}
	return sampler.User{}, errUnknownUser
}

// userOfSocket returns the user who connected, as the kernel noted it then.
func userOfSocket(c *net.UnixConn) (sampler.User, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return sampler.User{}, err
	}
	var who *unix.Ucred
	if failed := raw.Control(func(fd uintptr) {
		who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); failed != nil {
		err = failed
	}
	if err != nil {
		return sampler.User{}, err
	}
	return knownUser(int(who.Uid), func() (sampler.User, error) {
		return sampler.User{UID: int(who.Uid), GID: int(who.Gid)}, nil
	})
}

// tables are the kernel's lists of TCP connections. A connection
// of an IPv4 address may be in either.
var tables = []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}

// userOfPort returns the user whose socket is bound to from and
// connected with to.
func userOfPort(from, to netip.AddrPort) (sampler.User, error) {
	for _, name := range tables {
		uid, found, err := findPort(name, from, to)
		if err != nil && !os.IsNotExist(err) {
			return sampler.User{}, err
		}
		if found {
			return knownUser(uid, func() (sampler.User, error) { return withGroup(uid) })
		}
	}
	return sampler.User{}, errUnknownUser
}

// knownUser completes a user, but for the one id that stands for
// all users without an id in this container.
func knownUser(uid int, complete func() (sampler.User, error)) (sampler.User, error) {
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return sampler.User{}, err
	}
	if strings.TrimSpace(string(text)) == strconv.Itoa(uid) {
		return sampler.User{}, fmt.Errorf("user %d may be anybody", uid)
	}
	return complete()
}

// established is the state of a connection in the kernel's
// lists. In other states the user may be given as 0.
const established = "01"

// findPort finds the owner of a connection in a list.
func findPort(name string, from, to netip.AddrPort) (uid int, found bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// sl local remote state queues timer retransmits uid timeout inode
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != established || fields[9] == "0" ||
			!isPort(fields[1], from) || !isPort(fields[2], to) {
			continue
		}
		uid, err := strconv.Atoi(fields[7])
		return uid, err == nil, err
	}
	return 0, false, lines.Err()
}

// isPort reports whether a text such as 0100007F:17AD is an
// address and port. The kernel prints an address in words of its
// own byte order.
func isPort(text string, want netip.AddrPort) bool {
	address, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil || uint16(number) != want.Port() {
		return false
	}
	b, err := hex.DecodeString(address)
	if err != nil || len(b)%4 != 0 {
		return false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	got, ok := netip.AddrFromSlice(b)
	return ok && got.Unmap() == want.Addr().Unmap().WithZone("")
}

// Files that the agent opens at a time.
const (
	filesOfRecording = 4  // pipes to the process that makes it
	filesOfAgent     = 64 // lists of /proc, configuration, the runtime's own
)

// checkFiles returns an error if the process may not open as
// many files as the agent needs.
func checkFiles(o *Options) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil // then it shows when a file can't be opened
	}
	recordings := o.AtOnce
	if o.Keeping != nil {
		recordings += o.Keeping.Most
	}
	need := maxConnections + recordings*filesOfRecording + filesOfAgent
	if limit.Cur >= uint64(need) {
		return nil
	}
	return fmt.Errorf("the agent may open %d files at a time, and needs %d, for %d clients and %d recordings: "+
		"raise the limit (ulimit -n %d; LimitNOFILE=%d for a service of systemd)", limit.Cur, need,
		maxConnections, recordings, need, need)
}
