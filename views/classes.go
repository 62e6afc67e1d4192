package views

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

const (
	// collectorClass is the thread class of the garbage collector's workers
	// under every class rule.
	collectorClass = "go:runtime.gcBgMarkWorker"

	// unknownClass is the class of goroutines whose go statement
	// is not in the recording.
	unknownClass = "go:unknown"

	// collectorPriority is higher than every goroutine's (design "Typed time").
	collectorPriority = math.MaxInt64
)

// A classID is the number of a thread class in one view. Classes
// are numbered in the order in which the view finds them.
type classID int32

// noClass is the number of no class.
const noClass classID = -1

// classes finds the thread class and the priority of each
// goroutine in each of its runs.
type classes struct {
	r        *sampledata.Recording
	o        Options
	namers   *namers
	names    intern.List[string, classID]
	unmerged intern.List[string, memberID] // their names before merging
	members  []member
	// without its labels, and not below a wrapper; noMember until first use
	byGoroutine []memberID
	belowWraps  map[wrappedBy]memberID
	byLabels    []memberID // by label set: the class from the labels; noMember if there is none
}

// A member is a class before classes are merged. It keeps its
// configured priority.
type member struct {
	class    classID
	priority int32
	is       bool // the priority is configured
}

// A memberID is the number of a member.
type memberID int32

const noMember memberID = -1

// A wrappedBy is a goroutine that began with a wrapper, and the
// function below it.
type wrappedBy struct {
	goroutine sampledata.GoroutineID
	function  sampledata.FunctionID
}

func newClasses(r *sampledata.Recording, o Options) *classes {
	c := &classes{
		r: r, o: o, namers: newNamers(r, o),
		belowWraps: make(map[wrappedBy]memberID),
	}
	c.byGoroutine = slices.Repeat([]memberID{noMember}, r.Goroutines.Len())
	if o.Classes.Label == "" {
		return c
	}
	c.byLabels = make([]memberID, len(r.LabelSets))
	for i, set := range r.LabelSets {
		c.byLabels[i] = noMember
		for _, l := range set {
			if l.Key == o.Classes.Label {
				c.byLabels[i] = c.member("label:" + l.Key + "=" + l.Value)
				break
			}
		}
	}
	return c
}

// member returns the number of a class before merging.
func (c *classes) member(name string) memberID {
	id := c.unmerged.Number(name)
	if int(id) < len(c.members) {
		return id
	}
	class := name
	if c.o.Merged != nil {
		class = c.o.Merged(name)
	}
	m := member{class: c.names.Number(class)}
	if c.o.Priority != nil && name != collectorClass {
		m.priority, m.is = c.o.Priority(name)
	}
	c.members = append(c.members, m)
	return id
}

// of returns the class of a run's goroutine. It can change from
// run to run with the goroutine's labels, and with what a
// wrapper calls.
func (c *classes) of(run sampledata.Run) classID { return c.members[c.memberOf(run)].class }

func (c *classes) memberOf(run sampledata.Run) memberID {
	isGC := c.r.Goroutines.IsGC(run.Goroutine)
	if c.byLabels != nil && !isGC {
		if id := c.byLabels[run.Labels]; id != noMember {
			return id
		}
	}
	if f, ok := c.namers.of(run); ok && !isGC {
		return lists.Made(c.belowWraps, wrappedBy{run.Goroutine, f}, func() memberID {
			return c.member(c.name(c.r.Goroutines.At(run.Goroutine), f))
		})
	}
	id := &c.byGoroutine[run.Goroutine]
	if *id == noMember {
		g := c.r.Goroutines.At(run.Goroutine)
		*id = c.member(c.name(g, g.Start))
	}
	return *id
}

// ofStack returns the class, by function, of a goroutine with a stack.
func (c *classes) ofStack(stack sampledata.NodeID) classID {
	for ; c.r.Nodes[stack].Parent != sampledata.NoStack; stack = c.r.Nodes[stack].Parent {
		if above := c.r.Nodes[stack].Parent; c.r.Nodes[above].Parent == sampledata.NoStack &&
			c.r.Functions[c.r.Nodes[above].Function].Name == bootstrap {
			break
		}
	}
	return c.members[c.member("go:"+c.r.Functions[c.r.Nodes[stack].Function].Name)].class
}

// name returns the class of a goroutine by its function or by
// its creation site.
func (c *classes) name(g sampledata.Goroutine, function sampledata.FunctionID) string {
	if g.GC {
		return collectorClass
	}
	name := unknownClass
	if function >= 0 && c.r.Functions[function].Name != "" {
		name = "go:" + c.r.Functions[function].Name
	}
	if c.o.Classes.Site && g.Site.File != "" {
		name += "@" + baseName(g.Site.File) + ":" + strconv.Itoa(int(g.Site.Line))
	}
	return name
}

// baseName returns the last element of a path of any platform: a
// recording may be from another platform.
func baseName(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// ClassOf returns a function that returns the thread class of a
// run's goroutine, as in the views with the same options.
func ClassOf(r *sampledata.Recording, o Options) func(sampledata.Run) string {
	c := newClasses(r, o)
	return func(run sampledata.Run) string { return c.names.All[c.of(run)] }
}

// priority returns the priority of a run's goroutine.
func (c *classes) priority(run sampledata.Run) int64 {
	if c.r.Goroutines.IsGC(run.Goroutine) {
		return collectorPriority
	}
	if m := c.members[c.memberOf(run)]; m.is {
		return int64(m.priority)
	}
	return int64(run.Priority)
}
