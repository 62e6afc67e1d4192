package views

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

const (
	// collectorClass is the thread class of the garbage collector's workers under every class rule.
	collectorClass = "go:runtime.gcBgMarkWorker"

	// unknownClass is the class of goroutines whose go statement is not in the recording.
	unknownClass = "go:unknown"

	// collectorPriority is higher than that of every goroutine (design "Typed time").
	collectorPriority = math.MaxInt64
)

// A classID is the number of a thread class in one view. Classes are numbered in the order in which the view finds them.
type classID int32

// noClass is the number of no class.
const noClass classID = -1

// classes finds the thread class and the priority of each goroutine in each of its runs.
type classes struct {
	r           *sampledata.Recording
	o           Options
	names       []string
	index       map[string]classID
	priorities  []configured // by class
	byGoroutine []classID    // without its labels; noClass until first use
	byLabels    []classID    // by label set: the class from the labels; noClass if there is none
}

type configured struct {
	priority int32
	is       bool
}

func newClasses(r *sampledata.Recording, o Options) *classes {
	c := &classes{r: r, o: o, index: make(map[string]classID)}
	c.byGoroutine = make([]classID, len(r.Goroutines))
	for g := range c.byGoroutine {
		c.byGoroutine[g] = noClass
	}
	if o.Classes.Label == "" {
		return c
	}
	c.byLabels = make([]classID, len(r.LabelSets))
	for i, set := range r.LabelSets {
		c.byLabels[i] = noClass
		for _, l := range set {
			if l.Key == o.Classes.Label {
				c.byLabels[i] = c.intern("label:" + l.Key + "=" + l.Value)
				break
			}
		}
	}
	return c
}

func (c *classes) intern(name string) classID {
	if id, ok := c.index[name]; ok {
		return id
	}
	id := classID(len(c.names))
	c.index[name] = id
	c.names = append(c.names, name)
	var p configured
	if c.o.Priority != nil && name != collectorClass {
		p.priority, p.is = c.o.Priority(name)
	}
	c.priorities = append(c.priorities, p)
	return id
}

// of returns the class of a run's goroutine. It can change from run to run with the goroutine's labels.
func (c *classes) of(run sampledata.Run) classID {
	g := &c.r.Goroutines[run.Goroutine]
	if c.byLabels != nil && !g.GC {
		if id := c.byLabels[run.Labels]; id != noClass {
			return id
		}
	}
	id := &c.byGoroutine[run.Goroutine]
	if *id == noClass {
		*id = c.intern(c.name(g))
	}
	return *id
}

// name returns the class of a goroutine by its function or by its creation site.
func (c *classes) name(g *sampledata.Goroutine) string {
	if g.GC {
		return collectorClass
	}
	name := unknownClass
	if g.Start >= 0 && c.r.Functions[g.Start].Name != "" {
		name = "go:" + c.r.Functions[g.Start].Name
	}
	if c.o.Classes.Site && g.Site.File != "" {
		name += "@" + baseName(g.Site.File) + ":" + strconv.Itoa(int(g.Site.Line))
	}
	return name
}

// baseName returns the last element of a path of any platform: a recording may be from another platform.
func baseName(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// ClassOf returns a function that returns the thread class of a run's goroutine, as in the views with the same options.
func ClassOf(r *sampledata.Recording, o Options) func(sampledata.Run) string {
	c := newClasses(r, o)
	return func(run sampledata.Run) string { return c.names[c.of(run)] }
}

// priority returns the priority of a run's goroutine, whose class is given.
func (c *classes) priority(run sampledata.Run, class classID) int64 {
	if c.r.Goroutines[run.Goroutine].GC {
		return collectorPriority
	}
	if p := c.priorities[class]; p.is {
		return int64(p.priority)
	}
	return int64(run.Priority)
}
