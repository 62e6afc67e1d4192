package views

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

const (
	// collectorClass is the thread class of the garbage collector's workers, however goroutines are classed.
	collectorClass = "go:runtime.gcBgMarkWorker"

	// unknownClass is that of goroutines whose go statement the recording doesn't know.
	unknownClass = "go:unknown"

	// collectorPriority is above that of every goroutine (design "Typed time").
	collectorPriority = math.MaxInt64
)

// A classID numbers the thread classes of one view. Classes are numbered as they are met.
type classID int32

// noClass stands for a class that does not exist.
const noClass classID = -1

// classes tell the thread class and the priority of each goroutine in each of its runs.
type classes struct {
	r           *sampledata.Recording
	o           Options
	names       []string
	index       map[string]classID
	priorities  []configured // by class
	byGoroutine []classID    // without regard to labels; noClass until asked for
	byLabels    []classID    // by label set: the class that the labels make; noClass where they make none
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

// of returns the class of a run's goroutine, which its labels can change from run to run.
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

// baseName is the last element of a path of any platform: recordings are read elsewhere than they are made.
func baseName(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

// ClassOf returns a function that tells the thread class of a run's goroutine, as the views that are made with the same
// options class it.
func ClassOf(r *sampledata.Recording, o Options) func(sampledata.Run) string {
	c := newClasses(r, o)
	return func(run sampledata.Run) string { return c.names[c.of(run)] }
}

// priority returns the priority of a run's goroutine, which is of the given class.
func (c *classes) priority(run sampledata.Run, class classID) int64 {
	if c.r.Goroutines[run.Goroutine].GC {
		return collectorPriority
	}
	if p := c.priorities[class]; p.is {
		return int64(p.priority)
	}
	return int64(run.Priority)
}
