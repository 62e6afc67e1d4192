package views

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// A Role says what it means that a goroutine waits in a function.
type Role uint8

const (
	OtherRole Role = iota
	IdleRole       // it waits for work: accepting a connection, or reading the next request
	BusyRole       // it never waits for work, though it may look so
	AnyRole        // it reads or waits for whoever calls it, and so has the caller's role
)

// idleness decides which goroutines are idle: they wait at home
// for their next piece of work. A goroutine waits in the
// innermost function that does not wait for whoever calls it,
// such as net.(*conn).Read does. It is idle there
//
//   - if the function has the IdleRole: accepting connections is always waiting for work, and so is reading datagrams of anybody, unless
//     it reads the answer to what it wrote;
//   - if it is a goroutine of the runtime, or waits in the first function of a goroutine of the standard library;
//   - if it reads a request from a connection that was accepted (see findRequests), or writes only after it has read (see findExchanges),
//     and not if it reads the answer to what it wrote;
//   - if the function, called like this, is a home, and the goroutine waits as loops do. What is a home, the whole recording decides
//     (see homes). It is not if it receives what it asked others for (see findAsks), and not in a library that was called to do
//     something (see isRequest).
//
// For example, if main.worker is a home:
//
//	goroutine's stack                                       waits in                 idle
//	http.(*Server).Serve net.(*TCPListener).Accept ...      (*TCPListener).Accept    yes: accepting is an IdleRole
//	main.worker runtime.selectgo                            main.worker              yes: at home
//	main.worker runtime.chansend                            main.worker              no: nobody sends to wait for work
//	main.worker main.(*pool).get time.Sleep                 main.(*pool).get         no: below home there is work
//	http.(*conn).serve main.handle runtime.selectgo         main.handle              no: it is called for a piece of work
//	main.fetchAll sync.(*WaitGroup).Wait                    main.fetchAll            no: others work for it
//	main.worker kafka.(*Writer).Write runtime.selectgo      kafka.(*Writer).Write    no: it was called to write
type idleness struct {
	r       *sampledata.Recording
	role    func(function string) Role
	wrapper func(function string) bool
	roles   []Role // by function; unknownRole until first use
	places  []spot // by node
	modules *Modules
	homes   *homes // nil until first use
}

const unknownRole Role = 255

// A spot says where a goroutine waits that waits at the end of a stack.
type spot struct {
	verdict verdict
	// the frame of the innermost function that does not wait for
	// whoever calls it
	at sampledata.NodeID
}

type verdict uint8

const (
	unknownVerdict verdict = iota
	waitsForWork           // whatever it waits for
	readsDatagram          // the same, if it does not read the answer to what it wrote
	waitsForOthers
	awaitsRequest  // the same, by the name of what the library was called for
	ofRuntime      // the same, unless the outer frames are missing
	mayBeHome      // it is idle if the spot is a home
	beginsHere     // the same, and the goroutine began in this function
	beginsInStdlib // it is idle if it waits as loops do
)

// newIdleness returns nil if no goroutine is idle. If only some
// goroutines' time counts, a person has chosen it: none of it is
// left out.
func newIdleness(r *sampledata.Recording, o Options) *idleness {
	switch {
	case o.Role == nil || r.Restricted != nil:
		return nil
	case o.idle != nil && o.idle.r == r:
		return o.idle
	}
	return &idleness{r: r, role: o.Role, wrapper: o.WithWrappers(r).Wrapper,
		roles:  slices.Repeat([]Role{unknownRole}, len(r.Functions)),
		places: make([]spot, len(r.Nodes)), modules: NewModules(r)}
}

// Sharing returns the options for several analyses of a
// recording, one after another: which goroutines wait for work is
// found out once. The options' Role must stay.
func (o Options) Sharing(r *sampledata.Recording) Options {
	o.idle = newIdleness(r, o)
	return o
}

// WaitsFor returns functions that report whether the goroutine
// of a run is idle, as in the views with the same options, and
// whether it waits for the answer to what it wrote.
func WaitsFor(r *sampledata.Recording, o Options) (work, answer func(sampledata.Run) bool) {
	d := newIdleness(r, o)
	return d.has, d.awaitsAnswer
}

// awaitsAnswer reports whether a goroutine reads an answer from a connection,
// or receives one from another goroutine.
func (d *idleness) awaitsAnswer(run sampledata.Run) bool {
	if d == nil || run.Stack == sampledata.NoStack {
		return false
	}
	switch p := d.placeOf(run.Stack); d.doing(run) {
	case AwaitingIO:
		return d.findHomes().exchanges[run.Stack] == answer
	case Receiving, Selecting, AwaitingCondition:
		return p.verdict == awaitsRequest || d.findHomes().asks[p.at]
	}
	return false
}

// has reports whether a goroutine is idle in a run.
func (d *idleness) has(run sampledata.Run) bool {
	if d == nil || run.Stack == sampledata.NoStack || kindOf(run) != waiting {
		return false
	}
	does, p := d.doing(run), d.placeOf(run.Stack)
	switch {
	case does == Forever, p.verdict == waitsForOthers, p.verdict == awaitsRequest:
		return false
	case p.verdict == waitsForWork, p.verdict == ofRuntime && !run.Torn:
		return true
	case p.verdict == readsDatagram:
		return d.findHomes().exchanges[run.Stack] != answer
	case !meanings[does].home || run.Torn:
		return false
	case p.verdict == beginsInStdlib:
		return true
	}
	h := d.findHomes()
	return h.idle(run.Stack, p.at, does) || p.verdict == mayBeHome && h.collects(run, p.at)
}

// readTurn is what a goroutine calls to wait for its turn to
// read, if others read from the same file or socket.
const readTurn = "internal/poll.(*FD).readLock"

// doing returns what a goroutine does. Who waits for its turn to
// read waits for what is read.
func (d *idleness) doing(run sampledata.Run) Doing {
	does := DoingOf(run)
	if does != AwaitingSemaphore {
		return does
	}
	reads := func(name string) bool { return name == readTurn }
	if d.r.Innermost(run.Stack, reads) != sampledata.NoStack {
		return AwaitingIO
	}
	return does
}

func (d *idleness) findHomes() *homes {
	if d.homes == nil {
		d.homes = newHomes(d)
	}
	return d.homes
}

func (d *idleness) placeOf(stack sampledata.NodeID) spot {
	p := &d.places[stack]
	if p.verdict == unknownVerdict {
		*p = d.judge(stack)
	}
	return *p
}

// readsFromAnybody begins the names of the functions that read a datagram
// and who sent it: few clients do so.
const readsFromAnybody = "net.(*netFD).read"

// judge finds the place of a stack. If all its functions wait
// for whoever calls them, it is a goroutine of the runtime.
func (d *idleness) judge(stack sampledata.NodeID) spot {
	outermost := stack
	for n := d.beneathHTTP(stack); n != sampledata.NoStack; n = d.r.Nodes[n].Parent {
		switch d.roleOf(d.r.Nodes[n].Function) {
		case IdleRole:
			if strings.HasPrefix(d.name(n), readsFromAnybody) {
				return spot{readsDatagram, n}
			}
			return spot{waitsForWork, n}
		case BusyRole:
			return spot{waitsForOthers, n}
		case OtherRole:
			return spot{d.callOf(n), n}
		}
		if d.name(n) != bootstrap {
			outermost = n
		}
	}
	if name := d.name(outermost); strings.HasPrefix(name, "runtime.") && name != "runtime.main" {
		return spot{ofRuntime, outermost}
	}
	return spot{beginsHere, outermost}
}

// What net/http calls to read from a connection, which may be
// any code of the program: for a request, for an answer, and for
// what comes meanwhile.
const (
	readsRequest = "net/http.(*connReader).Read"
	readsAnswer  = "net/http.(*persistConn).Read"
	readsAhead   = "net/http.(*connReader).backgroundRead"
)

// beneathHTTP returns the frame that a stack has in the place of
// the code that reads for net/http: the stack itself if there is
// none.
func (d *idleness) beneathHTTP(stack sampledata.NodeID) sampledata.NodeID {
	for n := stack; n != sampledata.NoStack; n = d.r.Nodes[n].Parent {
		switch parent := d.r.Nodes[n].Parent; d.name(n) {
		case readsRequest, readsAnswer:
			if parent != sampledata.NoStack {
				return parent
			}
		case readsAhead:
			return n
		}
	}
	return stack
}

// callOf says what it means to wait in a frame, by its function
// and by who calls it. Functions of the standard library are no
// homes of the goroutines of others. What its goroutines call,
// such as the handler of a request, is a piece of work.
func (d *idleness) callOf(n sampledata.NodeID) verdict {
	begins := d.begins(d.r.Nodes[n].Parent)
	switch {
	case begins && !IsOwn(d.name(n)):
		return beginsInStdlib
	case d.isRequest(n):
		return awaitsRequest
	case begins:
		return beginsHere
	case !IsOwn(d.name(n)), d.calledBack(n):
		return waitsForOthers
	}
	return mayBeHome
}

// calledBack reports whether a goroutine of the standard library
// has called a frame of the program. The runtime calls main.main
// and what C calls, which are no pieces of work.
func (d *idleness) calledBack(n sampledata.NodeID) bool {
	first := d.r.Functions[d.firstFunction(n)].Name
	return !IsOwn(first) && !strings.HasPrefix(first, "runtime.")
}

func (d *idleness) name(n sampledata.NodeID) string { return d.r.NameAt(n) }

func (d *idleness) roleOf(f sampledata.FunctionID) Role {
	if d.roles[f] == unknownRole {
		d.roles[f] = d.role(d.r.Functions[f].Name)
	}
	return d.roles[f]
}

// firstFunction returns the function with which a goroutine
// began: the outermost one of its stack that is no wrapper.
func (d *idleness) firstFunction(stack sampledata.NodeID) sampledata.FunctionID {
	first := stack
	for n := stack; n != sampledata.NoStack; n = d.r.Nodes[n].Parent {
		if name := d.name(n); name != bootstrap && !d.isWrapper(name) {
			first = n
		}
	}
	return d.r.Nodes[first].Function
}

// closure matches the functions that a go statement has in place
// of a name, main.main.func1, main.main.func1.2, and the bodies
// of loops over functions: main.main-range1.
var closure = regexp.MustCompile(`(\.func\d+(\.\d+)*|-range\d+)+$`)

// ofVariable matches the closures that a variable of a package
// has, which the compiler names after the package's init.
var ofVariable = regexp.MustCompile(`^((?:.*/)?[^./]+\.(?:init|glob\.)\.func\d+)(\.\d+|\.func\d+|-range\d+)*$`)

// Enclosing returns the function that has a closure; a function
// that is none itself. A closure of a package's variable has
// none.
func Enclosing(function string) string {
	if of := ofVariable.FindStringSubmatch(function); of != nil {
		return of[1]
	}
	return closure.ReplaceAllString(function, "")
}

// begins reports whether a goroutine's first function comes
// right below a stack: all its functions only lead there, as
// wrappers do, and "go func() { s.loop() }()".
func (d *idleness) begins(stack sampledata.NodeID) bool {
	works := func(name string) bool {
		return name != bootstrap && name != "runtime.main" && !closure.MatchString(name) &&
			!d.isWrapper(name)
	}
	return d.r.Innermost(stack, works) == sampledata.NoStack
}

func (d *idleness) isWrapper(name string) bool { return d.wrapper != nil && d.wrapper(name) }
