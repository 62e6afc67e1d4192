package why

import (
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why/stuck"
)

// A sign is a known pattern behind findings of some kinds. A new
// one is one more row of the table.
type sign struct {
	kinds  []Kind
	share  func(s *searcher, f *Finding) float64 // of the finding, that shows it
	says   string                                // why; "" if it says only what helps
	remedy string                                // what then helps; "" is what helps with the kind
}

const (
	// answers is what helps against waits for answers.
	answers = "ask for less, ask earlier, or ask for several things at once"
	// lookAtEnder is what helps if it is not known who ends a wait.
	lookAtEnder = "look at who ends the wait"
	// lookAtReceiver is the same if the channel is full.
	lookAtReceiver = "look at who receives from the channel: it may be a limit, in which each value holds a place"
	// lookAtTimer is the same if a timer may end it.
	lookAtTimer = "look at what ends the wait: another goroutine, or a timer"
	// giveBack is what helps if what is shared gets lost.
	giveBack = "see that whoever takes one gives it back, also after an error or a timeout"
	// fasterEnd is what helps if more at a time would do no more.
	fasterEnd = "make the other end faster: more at a time would hardly get CPUs"
	// fewerCalls is what helps against system calls, and largerCalls if they
	// read or write.
	fewerCalls  = "make fewer of these calls"
	largerCalls = "make fewer calls, or larger ones, as with a buffer"
	// endsEarlier is what helps if goroutines only wait until a time.
	endsEarlier = "wait with a timer that can be stopped, as those of contexts and of time.AfterFunc are"
	// syncOnce is what helps if each piece of data waits for the disk.
	syncOnce = "write several things, and sync once for all"
)

// isSign is the share of a finding from which a sign is sure.
const isSign = 0.5

// logging matches the functions that write messages to a log.
var logging = regexp.MustCompile(`^log\.|^log/slog\.|^go\.uber\.org/zap|^k8s\.io/klog|` +
	`^github\.com/(sirupsen/logrus|rs/zerolog|golang/glog|hashicorp/go-hclog|go-kit/log)\b`)

// lockingToRead matches what waits for a lock for reading.
var lockingToRead = named(`sync\.runtime_SemacquireRWMutexR`)

// syncing matches the functions that wait until data is on the disk.
var syncing = named(`os\.\(\*File\)\.Sync|(syscall|golang\.org/x/sys/unix)\.F(data)?sync`)

// moving matches the functions that read and write data.
var moving = named(`(syscall|internal/poll|golang\.org/x/sys/unix)\.(\(\*FD\)\.)?(p?(read|write)v?(64)?|P?(Read|Write)v?|Send\w*|Recv\w*)`)

var signs = []sign{
	{[]Kind{LockKind},
		func(s *searcher, f *Finding) float64 {
			if s.doing(f, logging) > 0 {
				return 0 // the lock is the log's
			}
			return s.held(f, logging)
		},
		"a message is logged while the lock is held", "log it after unlocking"},
	{[]Kind{LockKind}, func(s *searcher, f *Finding) float64 { return s.held(f, syncing) },
		"whoever holds it waits for the disk", syncOnce},
	{[]Kind{LockKind},
		func(s *searcher, f *Finding) float64 {
			return f.holders(func(c *Cause) bool {
				return c.Activity != IO && c.Activity != NoCPU && s.e.places.matches(c.Place.stack, moving)
			})
		},
		"", largerCalls},
	{[]Kind{LockKind},
		func(_ *searcher, f *Finding) float64 {
			return f.holders(func(c *Cause) bool { return c.Activity == Nobody || c.Activity == Ready })
		},
		"a convoy: most of the time, whoever has the lock or was woken to take it does not run yet", ""},
	{[]Kind{LockKind}, onStack(`^sync\.runtime_SemacquireRWMutex$`),
		"writers wait for the readers that came before them", "hold it for reading for less time"},
	{[]Kind{LockKind},
		func(s *searcher, f *Finding) float64 {
			if f.holders(func(*Cause) bool { return true }) >= mostOf {
				return 0 // it is said who has it
			}
			return s.doing(f, lockingToRead)
		},
		"readers wait for a writer: it has the lock, or waits for earlier readers", ""},
	{[]Kind{LockKind}, (*searcher).ofOnce,
		once, "see what the first one does: the others need it"},
	{[]Kind{LockKind, ChannelKind},
		is(func(s *searcher, f *Finding) bool { return s.stalls(f) >= wholly }),
		"", "see what it waits for in the end: nothing goes on before"},
	{[]Kind{LockKind, ChannelKind}, (*searcher).stalls, stalled, ""},
	{[]Kind{ComputeKind}, (*searcher).spinning,
		givesWay,
		"wait on a channel, a condition or a lock"},
	{[]Kind{ProcessorKind}, (*searcher).spawns,
		"its goroutines are started again and again, and soon end", fewGoroutines},
	{[]Kind{ProcessorKind}, is(func(s *searcher, _ *Finding) bool { return s.e.crowd().byOthers() }),
		"", "do less at once, or run it where CPUs are free"},
	{[]Kind{ComputeKind}, is((*searcher).polls),
		looksAgain,
		"let it wait: without the default of the select, or on a condition"},
	{[]Kind{ComputeKind, AllocationKind}, onStack(`^sync\.\(\*Pool\)\.Get$`),
		"a sync.Pool did not have the value", emptyPool},
	{[]Kind{ComputeKind}, is((*searcher).isCalledOnce), "", "make it cheaper"},
	{[]Kind{AllocationKind}, is(func(_ *searcher, f *Finding) bool { return f.Garbage.eager() }),
		"a collection begins each time that the heap has grown by less than a quarter: GOGC is low, a limit of memory is near, or the program calls runtime.GC",
		"raise GOGC or the limit, or allocate less there"},
	{[]Kind{AllocationKind}, is(oftenCollected),
		"the heap is small, and is collected again as soon as a little more is allocated",
		"allocate less there, or let the heap grow: raise GOGC"},
	copiesIn(0), copiesIn(1), copiesIn(2), copiesIn(3),
	{[]Kind{MakingKind}, onStack(`^(github\.com/klauspost/)?compress/(gzip|zlib)\.\(\*Writer\)\.\w+$`),
		"a writer makes its encoder when it is first used: what makes the writers is further out in the stack, or elsewhere", ""},
	{[]Kind{ChannelKind}, is(func(_ *searcher, f *Finding) bool { return f.handler != "" }),
		asksOwn, "see what these do"},
	{[]Kind{ChannelKind, IOKind}, (*searcher).awaitsOwnEnd,
		ownEnd, "see what these do"},
	{[]Kind{LockKind}, (*searcher).awaitsOwnEnd, ownEnd, ""},
	{[]Kind{ChannelKind}, onStack(roundTrip), AwaitsServer, answers},
	{[]Kind{ChannelKind, ConditionKind, GroupKind}, func(_ *searcher, f *Finding) float64 {
		return shareWhere(f.Causes, func(c *Cause) bool { return c.AwaitsServer() && c.Class != f.Class })
	}, "", answers},
	{[]Kind{ChannelKind}, onStack(`\(\*\w*[cC]onn\w*\)\.[wW]aitRead\w*$`), // netpoll's, for example
		"it waits until it can read from a connection", answers},
	{[]Kind{ChannelKind, SleepKind}, paces,
		paced,
		"raise that rate, if it may go on more often"},
	{[]Kind{LockKind}, paces, holderPaced, "wait for the rate before the lock is taken"},
	{[]Kind{LockKind}, func(_ *searcher, f *Finding) float64 { return f.holders((*Cause).waitsOutside) },
		"", "release it before that wait, if what it guards allows that"},
	{[]Kind{ChannelKind}, (*searcher).reconnects,
		"it waits for a new connection, while earlier ones end",
		whyNone},
	{[]Kind{MakingKind}, is(func(s *searcher, f *Finding) bool {
		return f.connectsHTTP() && s.keepsNone() && !websocket.MatchString(f.Made.For)
	}),
		"earlier ones end meanwhile", whyNone},
	{[]Kind{ChannelKind}, (*searcher).upgrades,
		"it waits for a new connection, which the websocket will have for itself",
		"keep the websocket, and send several messages over it"},
	{[]Kind{ChannelKind}, (*searcher).connects,
		"it waits for a connection: one that is free, or a new one",
		"see if a limit holds it up (MaxConnsPerHost), or how long a new connection takes"},
	{[]Kind{ChannelKind}, onStack(`^database/sql\.\(\*DB\)\.conn$`),
		"all connections of the pool that SetMaxOpenConns allows are in use, or being opened",
		"hold a connection for less time, or allow more of them"},
	{[]Kind{ChannelKind}, onStack(`^google\.golang\.org/grpc/internal/transport\.\(\*http2Client\)\.NewStream$`),
		"the connection has as many streams as its server allows",
		"end streams earlier, or spread them over several connections"},
	{[]Kind{ChannelKind}, onStack(`^io\.\(\*pipe\)\.write$`),
		"it writes to an io.Pipe, and waits until that is read", "make whoever reads from it faster"},
	{[]Kind{IOKind}, onStack(sending), "it waits until the other end reads",
		"make the other end read faster, or send less"},
	{[]Kind{IOKind}, (*searcher).stalls, stalled, ""},
	{[]Kind{IOKind}, func(s *searcher, f *Finding) float64 {
		all, answers := weigh(s.e.situations, s.hits(f), func(at *situation) bool { return at.answer })
		return answers / max(all, 1)
	}, "it waits for answers to what it has written", ""},
	{[]Kind{IOKind}, is(func(_ *searcher, f *Finding) bool { return f.ends() }),
		"it may wait for the other end while it closes a connection", "close it without that wait, or wait for less time"},
	{[]Kind{IOKind}, does(fileRead), ofOthers, "look at who writes what it reads"},
	{[]Kind{ChannelKind, ConditionKind}, is((*searcher).losesPlaces),
		"nobody was seen to have what they wait for: it may be lost, or never given back", giveBack},
	{[]Kind{ChannelKind, ConditionKind}, is((*searcher).awaitsReader), ofReader, otherEnd},
	{[]Kind{ChannelKind}, (*searcher).isAlone, nobodyElse, lookAtTimer},
	{[]Kind{ConditionKind}, (*searcher).isAlone, nobodyElse, ""},
	{[]Kind{ComputeKind, SystemCallKind, IOKind, BlockingKind, ForeignKind, SleepKind, ChannelKind},
		is((*searcher).handlesInOrder), inOrder, ""},
	{[]Kind{LeakKind}, leaksIn(views.AwaitingLock),
		"they wait for a lock", "hold it for less time, or start fewer of them"},
	{[]Kind{LeakKind}, is(keptAlive),
		"each of these, with its writer, keeps a connection of HTTP open",
		"close the body of each answer, and use one Transport again and again"},
	{[]Kind{LeakKind}, (*searcher).awaitsTimers,
		"each probably waits for a timer: then it ends, but late", endsEarlier},
	{[]Kind{LeakKind}, leaksIn(views.Sleeping),
		"each sleeps, and nothing but the time ends that", endsEarlier},
	{[]Kind{SystemCallKind, BlockingKind}, does(processEnd), ofProcess, "see what the process does"},
	{[]Kind{SystemCallKind, BlockingKind}, onStack(`(^|/)(syscall|unix)\.(Flock|FcntlFlock)$`),
		"it waits for the lock of a file", "see who holds it, and hold it for less time"},
	{[]Kind{SystemCallKind, BlockingKind}, does(syncing), "each call waits for the disk", syncOnce},
	{[]Kind{SystemCallKind, BlockingKind}, does(moving), "", largerCalls},
}

// onStack returns the share of a finding with a function on the stack.
func onStack(function string) func(*searcher, *Finding) float64 {
	return does(regexp.MustCompile(function))
}

func does(function *regexp.Regexp) func(*searcher, *Finding) float64 {
	return func(s *searcher, f *Finding) float64 { return s.doing(f, function) }
}

// is makes a share of what holds for all of a finding, or for
// nothing of it.
func is(holds func(*searcher, *Finding) bool) func(*searcher, *Finding) float64 {
	return func(s *searcher, f *Finding) float64 {
		if holds(s, f) {
			return 1
		}
		return 0
	}
}

// isCalledOnce reports whether the function of a finding is all that
// each goroutine of its class does, and these live on.
func (s *searcher) isCalledOnce(f *Finding) bool {
	class := s.classOf(f)
	return class >= 0 && !s.e.classes[class].ends() &&
		(f.Class == "go:"+f.Where.Function || f.Where.Function == "main.main")
}

// ofOthers is the sign of waits for what a process writes, or a
// device.
const ofOthers = "it reads from an os.File, such as a pipe or a device: another process may decide when"

// ofProcess is the sign of waits for what a process does.
const ofProcess = "it waits until a process ends"

// nobodyElse is the sign of waits that nobody in the program is
// known to end, nor seen to work for.
const nobodyElse = "hardly anything else in the program is at work meanwhile: a timer, or something outside, may end the wait"

// losesPlaces reports whether a finding is a wait for a place in a
// pool, and nobody of the class is seen elsewhere at work.
func (s *searcher) losesPlaces(f *Finding) bool {
	if !f.unexplained() || len(f.Causes) > 0 || !f.Where.takesPlace() {
		return false
	}
	hit := s.hits(f)
	_, elsewhere := weigh(s.members(s.classOf(f)), active(s.classOf(f)),
		func(at *situation) bool { return !hit(at) && !s.on(at, f.Where.Function) })
	return s.e.mean(elsewhere) <= hardlyAny
}

// hardlyAny is the mean number of goroutines up to which nobody is seen.
const hardlyAny = 0.05

// asksOwn is the sign of waits for answers that the program may
// give itself.
const asksOwn = "about as many of the program's own handlers of requests are at work meanwhile: it may wait for them"

// ofOnce returns the share of a finding in waits for the lock of
// a sync.Once, not in what the first one does.
func (s *searcher) ofOnce(f *Finding) float64 {
	total, of := weigh(s.e.situations, s.hits(f), func(at *situation) bool {
		within := false // below the program's innermost function
		s.e.places.above(at.state.Stack, func(name string) bool {
			within = within || name == "sync.(*Once).doSlow"
			return views.IsOwn(name)
		})
		return within
	})
	return of / max(total, 1)
}

// once is the sign of waits for what one goroutine does for all.
const once = "a sync.Once: the first one to come does it for all"

// paced is the sign of waits for a limiter of rates, which may be meant.
const paced = "it is paced by a limit of how often it may go on"

// holderPaced is the sign of waits for a lock whose holder is.
const holderPaced = "who holds it is paced by a limit of how often it may go on"

// Paced reports whether a finding is such a wait.
func (f *Finding) Paced() bool { return slices.Contains(f.Signs, paced) }

// paces returns how much of a finding is in a limiter of rates,
// by its aspect, or waits for goroutines that are.
func paces(s *searcher, f *Finding) float64 {
	limit, _ := s.o.Aspects.Lookup("@limit")
	if limit.Has(f.Where.Function) || limit.Has(f.Where.Caller) {
		return 1
	}
	limited := func(c *Cause) bool { return limit.Has(c.Place.Function) || limit.Has(c.Place.Library) }
	if f.Kind == LockKind {
		return f.holders(limited)
	}
	return shareWhere(f.Causes, limited)
}

// keptAlive reports whether a leak is of the goroutines of a
// client's connections.
func keptAlive(_ *searcher, f *Finding) bool {
	return f.Class == clientReads || f.Class == clientWrites
}

// The classes of the two goroutines of a client's connection, and
// of the one of its server.
const (
	clientReads      = "go:net/http.(*persistConn).readLoop"
	clientWrites     = "go:net/http.(*persistConn).writeLoop"
	servesConnection = "go:net/http.(*conn).serve"
)

// awaitsTimers returns how much of a leak's waits to receive has
// no known channel, if others have one: the sampler leaves out
// the channels of timers.
func (s *searcher) awaitsTimers(f *Finding) float64 {
	unknown, all, others := 0.0, 0.0, false
	for _, at := range s.e.situations {
		if at.state.Doing != views.Receiving {
			continue
		}
		known := at.state.Channel != 0
		if others = others || known; s.e.name(at) != f.Class {
			continue
		}
		if all += at.weight; !known {
			unknown += at.weight
		}
	}
	if !others || unknown < mostOf*all {
		return 0
	}
	return unknown / max(all, 1)
}

// leaksIn returns a sign of leaks whose goroutines do something.
func leaksIn(does views.Doing) func(*searcher, *Finding) float64 {
	return is(func(_ *searcher, f *Finding) bool { return views.WaitingFor(f.Reason) == does })
}

// getsConnection matches the function that waits for a connection of HTTP.
const getsConnection = `^` + ofHTTP + `\.\(\*Transport\)\.getConn$`

// manyConnections is how many connections of HTTP have ended at
// least if new ones are made since none is kept.
const manyConnections = 10

const whyNone = "see why none is kept: requests have a Transport each, DisableKeepAlives or Close is set, an answer is not read to its end, CloseIdleConnections is called, or too few may be idle (MaxIdleConnsPerHost)"

// reconnects returns the share of a finding in waits for
// connections of HTTP, if connections end again and again.
func (s *searcher) reconnects(f *Finding) float64 {
	if !s.keepsNone() || s.upgrades(f) > 0 {
		return 0
	}
	return onStack(getsConnection)(s, f)
}

// websocket matches the functions of libraries that ask over
// HTTP for a connection, and then have it for themselves.
var websocket = regexp.MustCompile(`(^|/)websocket\.([dD]ial\w*|handshakeRequest)$`)

// upgrades returns the share of a finding in waits for the
// connections of websockets.
func (s *searcher) upgrades(f *Finding) float64 {
	if s.doing(f, websocket) < isSign {
		return 0
	}
	return onStack(getsConnection)(s, f)
}

// keepsNone reports whether connections of HTTP end again and
// again. Who waits for one then waits until it is made, and for
// no other's.
func (s *searcher) keepsNone() bool {
	class, known := s.e.byName[clientReads]
	return known && s.e.classes[class].ended >= manyConnections
}

// connects returns that share if hardly any connections end.
func (s *searcher) connects(f *Finding) float64 {
	return onStack(getsConnection)(s, f) - s.reconnects(f) - s.upgrades(f)
}

// doing returns the share of a finding with a matching function
// on the stack. The collector works for all stacks alike, and
// does not count.
func (s *searcher) doing(f *Finding, function *regexp.Regexp) float64 {
	if f.row().hits == nil && !f.row().waits {
		return 0
	}
	hit := s.hits(f)
	total, on := weigh(s.e.situations,
		func(at *situation) bool { return hit(at) && !s.e.classes[at.class].collector },
		s.within(function))
	return on / max(total, 1)
}

// within returns the situations with a matching function on the stack.
func (s *searcher) within(function *regexp.Regexp) func(*situation) bool {
	return func(at *situation) bool { return s.e.places.matches(at.state.Stack, function) }
}

// matches reports whether a stack has a matching function.
func (p *places) matches(stack sampledata.NodeID, function *regexp.Regexp) bool {
	return p.above(stack, function.MatchString)
}

// held returns the share of the waits for a lock in which its
// holder is in a matching function.
func (s *searcher) held(f *Finding, function *regexp.Regexp) float64 {
	return f.holders(func(c *Cause) bool { return s.e.places.matches(c.Place.stack, function) })
}

// holders returns the share of the waits in which those that the
// goroutines are known to wait for do something.
func (f *Finding) holders(do func(*Cause) bool) float64 {
	return shareWhere(f.Causes, func(c *Cause) bool {
		return (c.Certainty == Known || c.Certainty == Likely) && do(c)
	})
}

// allInUse reports whether the processors are nearly full, or the
// machine often has no CPU for those that there are: a program that
// mostly waits may do more at a time. If it is
// known who wants the CPUs, none is free most of the time.
func (s *searcher) allInUse(c *Crowd) bool {
	if c != nil && c.hasFree() {
		return false
	}
	wanted := s.ran + s.noCPU
	most := s.e.processors
	if c != nil && c.CPUs > 0 {
		most = min(most, float64(c.CPUs))
	}
	return wanted >= fullUse*s.e.processors || s.noCPU > foreignUse*wanted && wanted >= halfUse*most
}

// inside reports whether those that goroutines wait for mostly
// compute, or wait for others of the program.
func (f *Finding) inside() bool {
	in := doing(Computing, Ready, NoCPU, Collecting, Locked, Sending, Receiving, Conditional)
	return shareWhere(f.Causes, in) > sharesOf(f.Causes)/2
}

// readSigns finds the signs of the findings. The first remedy holds.
func (a *searched) readSigns() {
	for _, f := range a.Findings {
		f.Remedy = f.Words().Remedy
		switch {
		case f.Made != nil:
			f.Remedy = makers[f.Made.of].remedy
		case f.Stuck != nil:
			f.Remedy = f.Stuck.Remedy()
		case f.Kind == ChannelKind && !slices.ContainsFunc(f.Causes, func(c Cause) bool { return c.Certainty != Meanwhile }):
			f.Remedy = lookAtEnder
			switch {
			case f.Limit != nil && views.WaitingFor(f.Reason) == views.Sending:
				f.Remedy = lookAtReceiver
			case views.WaitingFor(f.Reason) == views.Selecting:
				f.Remedy = lookAtTimer
			}
		case f.Kind == ChannelKind && f.inside() && a.allInUse(a.e.crowd()):
			f.Remedy = fasterEnd
		case f.limits():
			f.Remedy = f.raiseLimit()
		case f.ReadsAgain:
			f.Remedy = stuck.ReadOnce
		case f.Itself:
			f.Remedy = stuck.Unlock
		case f.Kind == CrowdedKind:
			f.Remedy = f.Crowd.remedy()
		}
		known := false
		for _, sign := range signs {
			if !slices.Contains(sign.kinds, f.Kind) || sign.share(a.searcher, f) < isSign {
				continue
			}
			if sign.says != "" {
				f.Signs = append(f.Signs, sign.says)
			}
			if !known && sign.remedy != "" {
				f.Remedy, known = sign.remedy, true
			}
		}
		f.Lasts = a.lasts(f)
		if in := a.neverLeft(f); in != "" {
			f.Signs = append(f.Signs, in)
			if !known {
				f.Remedy = "see if the call ends: 'cpprof record --calls' times each"
			}
		}
		if of := a.countsIn(f); of != "" {
			f.Signs = append(f.Signs, "a part of this time also counts as that of "+of)
		}
	}
}
