package views

import (
	"regexp"
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

// idleness finds the goroutines that wait for work, so that what they do otherwise can be seen. A goroutine waits in the
// innermost function that does not wait for whoever calls it, such as net.(*conn).Read does. It waits for work if this
// function has the IdleRole, or if the goroutine began in this function and waits for what a loop waits for:
//
//	goroutine's stack                                       waits in             for work
//	http.(*Server).Serve net.(*TCPListener).Accept ...      (*TCPListener).Accept  yes: accepting is an IdleRole
//	http.(*conn).serve main.handle db.Query net.(*conn).Read  db.Query             no
//	main.(*conn).loop net.(*conn).Read ...                  main.(*conn).loop      yes: it began there, and reads
//	main.watch runtime.selectgo                             main.watch             yes: a ticker, or work to come
//	main.fetchAll sync.(*WaitGroup).Wait                    main.fetchAll          no: others work for it
type idleness struct {
	r        *sampledata.Recording
	role     func(function string) Role
	wrapper  func(function string) bool
	roles    []Role // by function; unknownRole until first use
	verdicts []verdict
}

const unknownRole Role = 255

// A verdict says whether a goroutine that waits at the end of a stack waits for work.
type verdict uint8

const (
	unknownVerdict verdict = iota
	waitsForWork
	waitsForOthers
	maybeLoops // it waits for work if it waits as loops do, see meanings
)

// newIdleness returns nil if no goroutine waits for work.
func newIdleness(r *sampledata.Recording, o Options) *idleness {
	if o.Role == nil {
		return nil
	}
	d := &idleness{r: r, role: o.Role, wrapper: o.Wrapper, roles: make([]Role, len(r.Functions)), verdicts: make([]verdict, len(r.Nodes))}
	for f := range d.roles {
		d.roles[f] = unknownRole
	}
	return d
}

// WaitsForWork returns a function that reports whether the goroutine of a run waits for work, as in the views with the same
// options.
func WaitsForWork(r *sampledata.Recording, o Options) func(sampledata.Run) bool {
	return newIdleness(r, o).has
}

// has reports whether a goroutine waits for work in a run.
func (d *idleness) has(run sampledata.Run) bool {
	if d == nil || kindOf(run) != waiting || run.Stack == sampledata.NoStack {
		return false
	}
	does := DoingOf(run)
	if does == Forever {
		return true
	}
	v := &d.verdicts[run.Stack]
	if *v == unknownVerdict {
		*v = d.judge(run.Stack)
	}
	return *v == waitsForWork || *v == maybeLoops && meanings[does].home
}

// judge returns the verdict for a stack. If all its functions wait for whoever calls them, it is a goroutine of the
// runtime, or the first of them is a loop.
func (d *idleness) judge(stack sampledata.NodeID) verdict {
	outermost := stack
	for n := stack; n != sampledata.NoStack; n = d.r.Nodes[n].Parent {
		switch d.roleOf(d.r.Nodes[n].Function) {
		case IdleRole:
			return waitsForWork
		case BusyRole:
			return waitsForOthers
		case OtherRole:
			if d.begins(d.r.Nodes[n].Parent) {
				return maybeLoops
			}
			return waitsForOthers
		}
		if d.name(n) != bootstrap {
			outermost = n
		}
	}
	if name := d.name(outermost); strings.HasPrefix(name, "runtime.") && name != "runtime.main" {
		return waitsForWork
	}
	return maybeLoops
}

func (d *idleness) name(n sampledata.NodeID) string { return d.r.Functions[d.r.Nodes[n].Function].Name }

func (d *idleness) roleOf(f sampledata.FunctionID) Role {
	if d.roles[f] == unknownRole {
		d.roles[f] = d.role(d.r.Functions[f].Name)
	}
	return d.roles[f]
}

// closure matches the functions that a go statement has in place of a name: main.main.func1, main.main.func1.2.
var closure = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// begins reports whether a goroutine's first function comes right below a stack: all its functions only lead there, as
// wrappers do, and "go func() { s.loop() }()".
func (d *idleness) begins(stack sampledata.NodeID) bool {
	for n := stack; n != sampledata.NoStack; n = d.r.Nodes[n].Parent {
		name := d.name(n)
		leads := name == bootstrap || name == "runtime.main" || closure.MatchString(name) || d.wrapper != nil && d.wrapper(name)
		if !leads {
			return false
		}
	}
	return true
}
