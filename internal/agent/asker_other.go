//go:build !linux

package agent

import (
	"net"

	"github.com/cpprof/cpprof/sampler"
)

// userOf fails: this system is not asked.
func userOf(net.Conn) (sampler.User, error) { return sampler.User{}, errUnknownUser }

// checkFiles does nothing: no process is served on this system.
func checkFiles(*Options) error { return nil }

// ownFolder does nothing, likewise.
func ownFolder(string) (release func(), err error) { return func() {}, nil }

// ownerOf returns root, likewise.
func ownerOf(*sampler.Process) sampler.User { return sampler.User{} }
