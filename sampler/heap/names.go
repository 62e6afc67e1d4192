package heap

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/lockname"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
)

const (
	maxNamed  = 256 // groups
	nameTries = 3   // goroutines of a group, which must agree
)

// name names what stuck goroutines wait for. Nothing moves it any more, so it
// is read while the target runs.
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

// nameOf returns the name of what goroutines at one place wait for; "" if they
// don't agree on one.
func (x *Examination) nameOf(of []*Goroutine, code *syncflow.Analyzer) (name string) {
	for i, one := range of {
		n, err := x.Namer()
		at := one.thing()
		if err != nil || at == 0 || one.Timer {
			return ""
		}
		frames, _ := x.unwind(one.g)
		if one.Lock == 0 {
			at = objectsAt(one.Wait, at)[0]
		}
		found := n.Name(lockname.NewWaiter(at, one.g.used, one.g.stack, x.u, frames,
			code.LockPaths))
		if found == "" || i > 0 && found != name {
			return ""
		}
		name = found
	}
	return name
}
