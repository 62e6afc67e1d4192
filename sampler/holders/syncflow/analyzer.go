package syncflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A Program is the program whose goroutines are analysed.
type Program struct {
	Table *pclntab.Table
	Arch  string // GOARCH
	// Read fetches the running program's memory: its code, and what pointers
	// in frames lead to.
	Read func(addr uint64, b []byte) error
}

// Bounds of what is analysed.
const (
	maxCode   = 1 << 17 // bytes of one function
	maxHelper = 1 << 14 // bytes of a function whose effect on locks matters to its callers
	maxDepth  = 4       // of such functions, one calling the other
	maxFlows  = 64      // functions whose data flow is kept
)

// An Analyzer learns about a program's functions as they are
// met. It is for one goroutine at a time.
type Analyzer struct {
	p         Program
	machine   *machine
	functions map[uint64]*function // by entry
	flows     map[uint64]*flow     // by entry
	lockers   map[uint64]locker    // by tables of methods

	// What was found out about places in the code, by
	// unwind.Site; nil if nothing yet.
	locksBySite   []*siteLocks
	actionsBySite [][]siteAction
	semaphores    map[unwind.Site]*semaphoreWait
	known         known

	// functions that goroutines waited in for locks, or whose callees did,
	// by entry
	waitedIn    map[uint64]bool
	awaited     map[string]bool // types and functions that goroutines waited in for locks
	ownerBySite []*string       // likewise, by unwind.Site; nil if not known yet

	left    int  // instructions that may still be analysed
	reserve int  // only for stacks that likely hold locks which goroutines wait for
	wanted  bool // such a stack was met since the last Refill, or there was none yet
	spent   int  // those that were

	// a function that is not large was met since the last Refill
	// whose actions were not known, or there was none yet
	metSmall bool
	calm     bool // none was met between the last two

	tooDeep bool // some call was too deep to be followed, since this was last reset
}

// New returns an analyzer that knows nothing yet, and that
// learns nothing before the first Refill.
func New(p Program) (*Analyzer, error) {
	m := machineOf(p.Arch)
	if m == nil {
		return nil, fmt.Errorf("inferring who holds locks on processor %q is not supported: only amd64 and arm64 are", p.Arch)
	}
	return &Analyzer{p: p, machine: m, functions: map[uint64]*function{}, flows: map[uint64]*flow{},
		lockers: map[uint64]locker{}, semaphores: map[unwind.Site]*semaphoreWait{},
		awaited: map[string]bool{}, waitedIn: map[uint64]bool{}, wanted: true, metSmall: true,
		known: known{locks: map[place]*siteLocks{}, actions: map[place][]siteAction{}}}, nil
}

// A function is what is known of one function.
type function struct {
	f       pclntab.Func
	role    goruntime.CallRole
	ignored bool // the runtime's own, which has no locks of package sync
	panics  bool // it begins a panic
	wrapper bool // made by the compiler for a deferred call or a method value

	// By the scan of its code.
	scanned      bool
	calls        []uint64 // functions that it calls, of those that may be helpers
	usesChannels bool     // it has operations on channels
	endsWaits    bool     // it calls what ends waits for groups and conditions
	usesSync     bool     // it calls package sync, or has atomic instructions
	callsUnknown bool     // it calls what registers hold

	// What its calls do to locks; see effectsOf.
	effects      []effect
	effectsKnown bool
	inProgress   bool // effectsOf is at work on it
	// depth at which the effects can't be known, since too many
	// helpers call one another; 0: none
	tooDeepAt int

	// What it does with groups and conditions of its callers; see
	// argumentActions.
	actions     []argumentAction
	actionDepth int // functions in a row that were followed for that, this one included
}

// callee returns what is known of the function that begins at an
// address; if none begins there, of a function that does
// nothing.
func (a *Analyzer) callee(entry uint64) *function {
	if c, ok := a.functions[entry]; ok {
		return c
	}
	c := &function{scanned: true, effectsKnown: true, ignored: true}
	if f, ok := a.p.Table.Func(entry); ok && f.Entry == entry {
		name := f.Name()
		c = &function{f: f, role: goruntime.CallRoleOf(name)}
		c.ignored = goruntime.IsRuntime(name)
		c.panics = name == "runtime.gopanic"
		c.wrapper = strings.Contains(name, ".deferwrap") || strings.HasSuffix(name, "-fm")
		c.effectsKnown = !c.wrapper && goruntime.IsBalanced(name)
	}
	a.functions[entry] = c
	return c
}

// text reads a function's code. It is nil if there is none, or
// more than most bytes.
func (a *Analyzer) text(f pclntab.Func, most uint64) []byte {
	n := f.End - f.Entry
	if n == 0 || n > most {
		return nil
	}
	b := make([]byte, n)
	if a.p.Read(f.Entry, b) != nil {
		return nil
	}
	return b
}

// relevant reports whether a function may have to do with locks:
// it calls package sync, has atomic instructions, or calls a
// helper that takes or releases locks.
func (a *Analyzer) relevant(c *function, depth int) bool {
	if c.ignored {
		return false
	}
	if !c.scanned {
		a.scan(c)
	}
	return c.usesSync || slices.ContainsFunc(c.calls,
		func(entry uint64) bool { return len(a.effectsOf(a.callee(entry), depth+1)) > 0 })
}

// scan finds out what a function calls, without decoding its code.
func (a *Analyzer) scan(c *function) {
	c.scanned = true
	text := a.text(c.f, maxCode)
	a.spend(len(text) / 64)
	methods := [2]int64{goruntime.FirstMethod, goruntime.SecondMethod}
	found := a.machine.Scan(text, c.f.Entry, methods, func(target uint64) {
		to := a.callee(target)
		switch {
		case to.role != goruntime.CallOther:
			c.usesSync = c.usesSync || to.role.TakesOrReleases()
			c.usesChannels = c.usesChannels || to.role.UsesChannel()
			c.endsWaits = c.endsWaits || to.role.EndsWaits()
		case !to.ignored && to.f.End-to.f.Entry <= maxHelper && !slices.Contains(c.calls, target):
			c.calls = append(c.calls, target)
		}
	})
	// A wrapper that calls the second method of an interface may
	// call a deferred Unlock.
	c.usesSync = c.usesSync || found.Atomic ||
		found.Indirect && (found.Loads[1] && found.Loads[0] || c.wrapper)
	c.callsUnknown = found.Indirect
}

// flowOf returns the data flow over a function, nil if it can't
// be analysed.
func (a *Analyzer) flowOf(f pclntab.Func) *flow {
	w, ok := a.flows[f.Entry]
	if !ok {
		if len(a.flows) >= maxFlows {
			clear(a.flows)
		}
		w = a.newFlow(f, 0)
		a.flows[f.Entry] = w
	}
	return w
}

// locksAt returns what a frame shows about locks; nil if that is
// not known yet. To learn that may be urgent.
func (a *Analyzer) locksAt(f *unwind.Frame, urgent bool) *siteLocks {
	for int(f.Site) >= len(a.locksBySite) {
		a.locksBySite = append(a.locksBySite, nil)
	}
	if p := a.locksBySite[f.Site]; p != nil {
		return p
	}
	p := a.known.locks[placeOf(f)]
	if p == nil {
		if !a.mayLearn(urgent) {
			return nil
		}
		p = a.findLocksAt(f)
		a.known.locks[placeOf(f)] = p
	}
	a.locksBySite[f.Site] = p
	return p
}

// noLocks is the result for frames that have nothing to do with locks.
var noLocks = &siteLocks{}

func (a *Analyzer) findLocksAt(f *unwind.Frame) *siteLocks {
	a.spend(1)
	fn, ok := a.p.Table.Func(f.PC)
	if !ok {
		return noLocks
	}
	c := a.callee(fn.Entry)
	switch c.role {
	case goruntime.CallStops, goruntime.CallUnwinds:
		return &siteLocks{unknown: true}
	case goruntime.CallCondWait:
		p := &siteLocks{unknown: true}
		if w := a.flowOf(fn); w != nil {
			p.released = w.locksAt(f.PC, f.Exact).released
		}
		return p
	}
	if goruntime.SavesRegisters(c.f.Name()) {
		if w := a.flowOf(fn); w != nil {
			return w.savedRegisters(f.PC, f.Exact)
		}
		return noLocks
	}
	if !a.relevant(c, 0) && !(a.waitedIn[fn.Entry] && c.callsUnknown) {
		return noLocks
	}
	w := a.flowOf(fn)
	if w == nil {
		return unknownLocks()
	}
	return w.locksAt(f.PC, f.Exact)
}
