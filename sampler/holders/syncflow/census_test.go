package syncflow

import "testing"

// The first method of an interface may be Lock, so the analysis takes it for that until a frame shows what it is. If the
// values that lead there are gone, no frame can.
func TestCensusWithoutLocks(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, buildFor(t, arch, "lockcode"))
		calls, _ := a.LockedCalls(a.p.Table.Find("main.noLock")["main.noLock"])
		for _, c := range calls {
			t.Errorf("%s: at %#x, a lock may be held: %v", arch, c.PC, c.Doubt)
		}
	}
}

// Every call under a lock is counted, and those at which nothing is sure are not counted as sure.
func TestCensus(t *testing.T) {
	a := analyzer(t, build(t, "amd64"))
	for name, want := range map[string]struct{ sure, unsure bool }{
		"main.(*thing).field": {sure: true},
		"main.(*thing).maybe": {sure: true},
		"main.twiceInMap":     {unsure: true},
		"main.work":           {},
	} {
		calls, _ := a.LockedCalls(a.p.Table.Find(name)[name])
		var sure, unsure bool
		for _, c := range calls {
			sure, unsure = sure || c.Doubt == NoDoubt, unsure || c.Doubt != NoDoubt
		}
		if sure != want.sure || unsure != want.unsure {
			t.Errorf("%s: sure %v, unsure %v; want %v", name, sure, unsure, want)
		}
	}
}
