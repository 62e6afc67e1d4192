package heap

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
)

const (
	maxNamed  = 256 // groups
	nameTries = 3   // goroutines of a group, which must agree
	// channels of a select that are named
	maxCaseNames = 3
)

// name names what stuck goroutines wait for. Nothing moves it
// any more, so it is read while the target runs.
func (x *Examination) name(groups []Group, code *syncflow.Analyzer) {
	if x.Namer == nil {
		return
	}
	for i := range groups[:min(len(groups), maxNamed)] {
		if g := &groups[i]; g.Verdict == sampledata.Stuck {
			g.Name = x.nameOf(g.Goroutines[:min(len(g.Goroutines), nameTries)], code)
		}
	}
	x.blame(groups, code)
}

// nameOf returns the name of what goroutines at one place wait
// for; "" if they don't agree on one.
func (x *Examination) nameOf(of []*Goroutine, code *syncflow.Analyzer) (name string) {
	n, err := x.Namer()
	if err != nil {
		return ""
	}
	for i, one := range of {
		found := ""
		switch at := one.thing(); {
		case one.Timer:
		case one.Wait == sampledata.ForChannels:
			found = x.nameOfCases(n, one, code)
		case at != 0:
			if one.Lock == 0 {
				at = objectsAt(one.Wait, at)[0]
			}
			found = x.nameAt(n, at, one, code.LockPaths)
		}
		if found == "" || i > 0 && found != name {
			return ""
		}
		name = found
	}
	return name
}

// nameAt returns the name of the object at an address for which
// a goroutine waits; "" if it has none.
func (x *Examination) nameAt(n *lockname.Namer, at uint64, one *Goroutine,
	paths func(*unwind.Frame) []syncflow.LockPath) string {
	frames, _ := x.unwind(one.g)
	w := lockname.NewWaiter(at, one.g.used, one.g.stack, x.u, frames, paths)
	w.Several = one.Wait == sampledata.ForChannels
	return n.Name(w)
}

// nameOfCases returns the names of the channels of a select: "c
// or d in main.run".
func (x *Examination) nameOfCases(n *lockname.Namer, one *Goroutine,
	code *syncflow.Analyzer) string {
	var names []string
	others := 0
	channels := slices.Clone(one.Awaits)
	slices.Sort(channels)
	for _, at := range slices.Compact(channels) {
		name := x.nameAt(n, at, one, func(f *unwind.Frame) []syncflow.LockPath {
			return code.CasePaths(f, at, &reading{x, code, one.g})
		})
		switch {
		case name == "" || len(names) == maxCaseNames:
			others++
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	text := lockname.Either(names)
	switch others {
	case 0:
		return text
	case 1:
		return text + " or another channel"
	}
	return fmt.Sprintf("%s or %d other channels", text, others)
}
