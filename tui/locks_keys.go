package tui

import (
	"math/big"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// bindings are the keys and buttons of the window.
func (w *lockWindow) bindings() []binding {
	return w.listAndPane.bindings(
		on("Enter", "Open",
			"the instances of a field, or the Thread View of the class that waits most, refined into the holder",
			w.openSelected),
		on("i", "", "all locks of a field together, or each instance by itself", w.toggleInstances),
		on("h", "Holders", "the profile of what the holders of all locks did", w.openHolders),
	)
}

// openSelected opens the Thread View of the class that waits most, refined to
// the wait and into the holder.
func (w *lockWindow) openSelected() {
	switch i := w.item(); {
	case i == nil:
	case i.pair != nil:
		openView(w.a, waiting(i.lock, w.a.threshold))
	case i.lock != nil && len(i.lock.Parts) > 1:
		w.toggleInstances()
	case i.lock != nil:
		openProfile(w.a, waiting(i.lock, w.a.threshold))
	default:
		openProfile(w.a, refinedTo(i.deadlock.Members[0].Class, "", views.Monitor,
			"", w.a.threshold))
	}
}

// toggleInstances shows each instance by itself or all locks of a field
// together. The lock that goroutines waited for most stays selected.
func (w *lockWindow) toggleInstances() {
	if w.found.both != nil {
		w.a.say("Locks of two recordings are matched by name: a comparison has no instances.")
		return
	}
	if i := w.item(); i != nil && i.lock != nil {
		switch {
		case w.by == locks.ByInstance:
			w.list.selected = i.lock.Name
		case len(i.lock.Parts) > 0:
			w.list.selected = i.lock.Parts[0].Lock
		}
	}
	if w.by == locks.ByField {
		w.by = locks.ByInstance
	} else {
		w.by = locks.ByField
	}
	w.analyse()
}

// waiting returns the Thread View of the class that waits longest for a lock.
// The view is refined to the wait and into the holder.
func waiting(l *locks.Lock, threshold refine.Threshold) session.Profile {
	sums := make(map[string]*big.Rat)
	var class, in, holder string
	for _, one := range l.Waiters {
		sum := sums[one.Class]
		if sum == nil {
			sum = new(big.Rat)
			sums[one.Class] = sum
		}
		sum.Add(sum, one.Weight)
		if class == "" || sum.Cmp(sums[class]) > 0 {
			class = one.Class
		}
	}
	for _, one := range l.Waiters {
		if one.Class == class {
			in = one.In // the function in which it waits most is the first of the class
			break
		}
	}
	if l.Shared {
		return refinedTo(class, in, views.Wait, "", threshold)
	}
	if len(l.Holders) > 0 {
		holder = l.Holders[0].Class
	}
	return refinedTo(class, in, views.Monitor, holder, threshold)
}

// refinedTo returns a class's Thread View. It is refined to the class's waits
// of one type, in one function unless in is "", and to a class of holders
// unless holder is "".
func refinedTo(class, in string, waits views.TypedTime, holder string,
	threshold refine.Threshold) session.Profile {
	path := callpath.Of(callpath.Frame(class))
	if in != "" {
		path = path.Then(callpath.Frame(in), callpath.Extended)
	}
	path = path.Then(callpath.Frame(waits.String()), callpath.Extended)
	steps := []refine.Step{{Kind: refine.KindPath, Text: path.String()},
		{Kind: refine.KindDown, Text: path.String()}}
	if holder != "" {
		path = path.Then(callpath.Frame(holder), callpath.Immediate)
		steps = append(steps, refine.Step{Kind: refine.KindFollow, Text: path.String()})
	}
	return session.Profile{Class: class, Steps: steps, Threshold: threshold,
		Selected: path.String()}
}

// openHolders opens the profile of the holders' activity, at the selected lock.
func (w *lockWindow) openHolders() {
	if i := w.item(); i != nil && i.lock != nil && i.lock.Shared {
		w.a.say("The profile of the holders has only locks; the details say who has this, or who may.")
		return
	}
	s := session.Profile{Threshold: w.a.threshold,
		Steps: []refine.Step{{Kind: refine.KindDown, Text: calltree.RootName}}}
	if i := w.item(); i != nil && i.lock != nil {
		name := i.lock.String()
		if w.found.both == nil && len(i.lock.Parts) > 0 {
			name = i.lock.Parts[0].Lock // the profile has each instance by itself
		}
		path := callpath.Of(callpath.Frame(calltree.RootName)).Then(callpath.Frame(name),
			callpath.Immediate)
		s.Selected = path.String()
		s.Steps = append(s.Steps, refine.Step{Kind: refine.KindFollow, Text: s.Selected})
	}
	if w.found.both != nil {
		openComparedHolders(w.a, s)
		return
	}
	openHolders(w.a, s)
}
