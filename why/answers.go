package why

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/views"
)

// AwaitsServer says what goroutines do that have sent a request
// over HTTP or gRPC.
const AwaitsServer = "it waits for the answer of a server"

// ofHTTP matches net/http, and modules that are copies of it.
const ofHTTP = `(net/http|github\.com/imroc/req/v3|github\.com/(bogdanfinn|Danny-Dasilva)/fhttp)`

// roundTrip matches the functions in which they wait.
const roundTrip = `^` + ofHTTP + `\.(\(\*persistConn\)|\(\*http2ClientConn\))\.roundTrip$|` +
	`^net/rpc\.\(\*Client\)\.Call$|` +
	`^google\.golang\.org/grpc/internal/transport\.\(\*(ClientStream|Stream)\)\.waitOnHeader$`

var inRoundTrip = regexp.MustCompile(roundTrip)

// inRoundTrip reports whether goroutines wait there for the
// answer to such a request.
func (p *Place) inRoundTrip() bool { return inRoundTrip.MatchString(cmp.Or(p.Library, p.Function)) }

// stream matches the functions that read from a stream of HTTP/2.
var stream = regexp.MustCompile(`^(net/http\.\(\*http2pipe\)|golang\.org/x/net/http2\.\(\*pipe\))\.Read$`)

func (p *Place) inStream() bool { return stream.MatchString(cmp.Or(p.Library, p.Function)) }

// AwaitsServer reports whether a cause waits for the answer to
// such a request.
func (c *Cause) AwaitsServer() bool { return c.Activity == Selecting && c.Place.inRoundTrip() }

// waitsOutside reports whether those that others wait for wait for nobody
// in the program: for a server, for I/O, or for a time.
func (c *Cause) waitsOutside() bool {
	return c.AwaitsServer() || c.Activity == IO || c.Activity == Sleeping
}

// sending matches the functions that write to a connection.
const sending = `^net\.\(\*(netFD|conn)\)\.(Write|writeBuffers)$`

// ofReader is the sign of waits in a library that has a goroutine
// which reads answers for others.
const ofReader = "a goroutine of the same package reads from a connection: what it waits for may come there"

// otherEnd is what may help then.
const otherEnd = "see how long the other end takes, or ask for several things at once"

// netRead matches what reads from a connection.
var netRead = regexp.MustCompile(`^net\.\(\*netFD\)\.Read`)

// awaitsReader reports whether goroutines wait in a library, it is not even
// guessed who ends that, and another goroutine of the package reads from
// a connection.
func (s *searcher) awaitsReader(f *Finding) bool {
	own := s.e.r.Nodes[s.e.places.own[f.Where.stack]].Function
	if !f.unexplained() || len(f.Causes) > 0 || f.Phase || s.inCalls() || s.modules.Of(own) == s.modules.Main() {
		return false
	}
	class, pkg := s.classOf(f), views.PackageOf(f.Where.Function)
	return slices.ContainsFunc(s.e.situations, func(at *situation) bool {
		return at.class != class && at.state.Doing == views.AwaitingIO && s.e.places.matches(at.state.Stack, netRead) &&
			views.PackageOf(s.e.places.at(at.state.Stack)) == pkg
	})
}
