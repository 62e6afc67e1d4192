package heap

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

const (
	maxBlamed = 8         // locks
	blameWork = 4_000_000 // for all of them; see syncflow.Refill
	maxLeft   = 3         // places for each
)

// blame finds out, of locks that no goroutine holds, which
// functions can return without having given them back.
func (x *Examination) blame(groups []Group, code *syncflow.Analyzer) {
	held := map[uint64]bool{}
	for i := range groups {
		for _, g := range groups[i].Goroutines {
			for _, h := range g.Holds {
				held[h.Lock] = held[h.Lock] || !goruntime.IsSync(h.In.Func)
			}
		}
	}
	found := map[string][]pclntab.Frame{}
	code.Refill(blameWork)
	for i := range groups {
		g := &groups[i]
		if g.Verdict != sampledata.Stuck || g.Lock == 0 || held[g.Lock] || g.Name == "" {
			continue
		}
		left, known := found[g.Name]
		if !known && len(found) < maxBlamed {
			left = x.leftBy(g.Name, g.Lock, code)
			found[g.Name] = left
		}
		g.Left = left
	}
}

// leftBy returns where functions of a lock's package can return
// with it. If not all of them could be analysed, it returns
// none: the one at fault may be another one.
func (x *Examination) leftBy(name string, lock uint64, code *syncflow.Analyzer) (
	places []pclntab.Frame) {
	namer, err := x.Namer()
	if err != nil {
		return nil
	}
	var always []pclntab.Frame // these take it for their callers, if any gives it back for them
	helpers := false
	prefix := goruntime.Package(name) + "."
	for f := range x.bin.Table.All() {
		if !strings.HasPrefix(f.Name(), prefix) {
			continue
		}
		left, more := code.LeftLocked(f)
		if !more {
			return nil
		}
		for _, l := range left {
			if l.Address != lock && (l.Path == nil || namer.NameOfPath(l.Path) != name) {
				continue
			}
			frames, ok := x.bin.Table.Frames(nil, l.PC)
			if !ok {
				continue
			}
			list := &places
			switch {
			case l.Gives:
				helpers = true
				continue
			case l.Always:
				list = &always
			}
			if at := frames[len(frames)-1]; !slices.Contains(*list, at) {
				*list = append(*list, at)
			}
		}
	}
	if len(places) == 0 && !helpers {
		places = always
	}
	return places[:min(len(places), maxLeft)]
}
