package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"sync"

	"github.com/cpprof/cpprof/sampler"
)

// A client is a connection and who is at its other end.
type client struct {
	conn net.Conn
	user func() (sampler.User, error) // finds out once
}

type clientKey struct{}

// withClient adds the client of a connection to a context.
func withClient(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, clientKey{},
		&client{c, sync.OnceValues(func() (sampler.User, error) { return userOf(plainConn(c)) })})
}

func clientOf(r *http.Request) *client {
	c, _ := r.Context().Value(clientKey{}).(*client)
	return c
}

// allowed returns the processes that a client may ask for: all,
// if clients prove who they are, and otherwise those that the
// client's user may halt without the agent.
func (s *Server) allowed(r *http.Request, list []*sampler.Process) ([]*sampler.Process, error) {
	u, err := s.asker(r)
	if err != nil || u == nil {
		return list, err
	}
	return sampler.HaltableBy(list, *u), nil
}

// asker returns the user of a client; nil if clients prove who they are.
func (s *Server) asker(r *http.Request) (*sampler.User, error) {
	if s.o.guarded() {
		return nil, nil
	}
	u, err := clientOf(r).user()
	if err != nil {
		return nil, fmt.Errorf("who asks is not known (%w): give the agent --token-file", err)
	}
	return &u, nil
}

// withGroup completes a user of whom only the user id is known.
func withGroup(uid int) (sampler.User, error) {
	if uid == os.Geteuid() {
		return sampler.User{UID: uid, GID: os.Getegid()}, nil
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return sampler.User{}, fmt.Errorf("the group of user %d: %w", uid, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	return sampler.User{UID: uid, GID: gid}, err
}

var errUnknownUser = errors.New("the kernel does not say which user a connection is of")
