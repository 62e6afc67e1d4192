package config

import (
	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/views"
)

// IdleAspect is the name of the aspect of functions that wait for work.
const IdleAspect = "@idle"

// RequestAspect is the name of the aspect of functions whose
// calls are pieces of work.
const RequestAspect = "@request"

// LimitAspect is the name of the aspect of functions that wait
// until a rate allows the next call.
const LimitAspect = "@limit"

// passing matches functions that read or wait for whoever calls
// them: what the waiting is for, only the caller knows.
var passing = mustAspect("passing",
	"runtime.*", "internal/*", "syscall.*", "sync.*", "sync/*", "time.Sleep",
	"io.*", "bufio.(*Reader).*", "bufio.(*Scanner).*", "bytes.(*Buffer).ReadFrom",
	"os.(*File).Read*",
	"net.(*conn).Read", "net.(*netFD).Read*", "net.(*netFD).read*", "net.(*TCPConn).Read",
	"net.(*UDPConn).Read*",
	"net.(*UDPConn).read*", "net.(*UnixConn).Read*", "net.(*TCPListener).*",
	"net.(*UnixListener).*",
	"crypto/tls.(*Conn).Read", "crypto/tls.(*Conn).read*", "crypto/tls.(*atLeastReader).Read",
	"net/textproto.(*Reader).*", "net/http.(*connReader).Read", "net/http.(*persistConn).Read",
	"encoding/json.(*Decoder).*", "encoding/gob.(*Decoder).*",
	"net/http.*Framer).ReadFrame*", "net/http.http2readFrameHeader",
	"golang.org/x/net/http2.(*Framer).ReadFrame*",
	"golang.org/x/net/http2.readFrameHeader",
	"google.golang.org/grpc/internal/transport.(*framer).*",
	"net/http.*clientConnReadLoop).run", "golang.org/x/net/http2.(*clientConnReadLoop).run",
)

func mustAspect(name string, patterns ...string) aspects.Aspect {
	a, err := aspects.New(name, patterns...)
	if err != nil {
		panic("config: " + err.Error()) // can't happen: the patterns are part of this package
	}
	return a
}

// idleRoles returns the roles of functions in which goroutines
// wait, or nil if the file removes the aspect.
func (c *Config) idleRoles() func(function string) views.Role {
	all := c.AllAspects()
	idle, ok := all.Lookup(IdleAspect)
	if !ok {
		return nil
	}
	limit, _ := all.Lookup(LimitAspect)
	return func(function string) views.Role {
		switch {
		case idle.Excludes(function), limit.Has(function):
			return views.BusyRole
		case idle.Has(function):
			return views.IdleRole
		case passing.Has(function):
			return views.AnyRole
		}
		return views.OtherRole
	}
}
