package stuck

import (
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// ReadOnce helps if a goroutine reads again what it has locked
// for reading.
const ReadOnce = "read the lock once, and call functions that expect it to be held"

// Unlock helps if a goroutine waits for a lock that it holds.
const Unlock = "give the lock back before, or call a function that expects it to be held"

// Remedy returns what usually helps.
func (f *Finding) Remedy() string {
	helps := f.remedy()
	if f.Count == 1 && f.parksMain() {
		return "if main only keeps the program alive, select {} says so; else " + helps
	}
	return helps
}

func (f *Finding) remedy() string {
	wait := f.Groups[0].Wait
	switch f.Fault {
	case Circle:
		return f.remedyOfCircle()
	case Recursive:
		return ReadOnce
	case Itself:
		if isForLock(wait) {
			return Unlock
		}
		return "leave that to another goroutine"
	case HolderGone:
		return "give the lock back on all ways out, as with defer"
	case NilChannel:
		if f.Endless() {
			return "make the channel before it is used, or wait for a context that can be cancelled"
		}
		return "make the channel before it is used"
	case NoCases:
		return "let the goroutine end instead"
	case Unknown:
		if wait == sampledata.ForGroup {
			return "see where those are that should call Done: they may be stuck, too"
		}
	}
	return remedies[wait]
}

// remedyOfCircle returns what helps if goroutines wait for one another.
func (f *Finding) remedyOfCircle() string {
	locks := lists.Count(f.Groups,
		func(g *sampledata.MarkedGroup) bool { return isForLock(g.Wait) })
	switch locks {
	case len(f.Groups):
		return "take the locks in one order"
	case 0:
		return "let one of them not wait: a buffer, or a select with a context that is cancelled"
	}
	return "hold no lock while waiting for another goroutine"
}

func isForLock(w sampledata.Wait) bool {
	return w == sampledata.ForLock || w == sampledata.ForReadLock
}

// remedies are what helps if nobody is left who would end a wait.
var remedies = map[sampledata.Wait]string{
	sampledata.ForReceiver:  "a buffer for the last value, or a select with a context that is cancelled",
	sampledata.ForSender:    "close the channel when nobody sends any more, or a select with a context that is cancelled",
	sampledata.ForChannels:  "wait in the select for the end, too: a context that is cancelled, or a channel that is closed",
	sampledata.ForLock:      "give the lock back on all ways out, as with defer",
	sampledata.ForReadLock:  "give the lock back on all ways out, as with defer",
	sampledata.ForGroup:     "call Done on all ways out, as with defer",
	sampledata.ForCondition: "signal the condition also when what it is about has ended",
}
