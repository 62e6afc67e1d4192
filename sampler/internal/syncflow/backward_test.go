package syncflow

import "testing"

// provenLocks lists functions of testdata/programs/lockcode, and how many locks their frames prove to be held during a call.
var provenLocks = []struct {
	function, calls string
	locks           int
	mode            Mode
}{
	{"main.(*thing).funcField", "main.work", 1, Write},
	{"main.(*thing).funcVariable", "main.work", 1, Read},
	{"main.(*thing).lockerDeferred", "main.work", 1, Write},
	{"main.(*thing).callbacks", "main.work", 1, Write},
	{"main.(*thing).array", "main.work", 1, Write},
	{"main.(*thing).arguments", "main.work", 1, Write},
	{"main.(*thing).forever", "main.work", 1, Write},
	{"main.(*thing).forever", "main.pause", 0, Write},
	{"main.(*thing).releasedByCallback", "main.work", 0, Write},
	{"main.(*thing).finishes", "main.pause", 0, Write},
	{"main.(*thing).finish", "main.work", 1, Write},
	{"main.(*thing).try", "main.work", 1, Write},
	{"main.(*thing).try", "main.pause", 0, Write},
	{"main.(*thing).spin", "main.work", 1, Write},
	{"main.(*thing).spin", "main.pause", 0, Write},
	{"main.(*thing).manyDefers", "main.work", 1, Write},
	{"main.(*thing).deferInLoop", "main.work", 1, Write},
	{"main.(*thing).inBackground", "main.pause", 0, Write},
	{"main.(*thing).inBackground.func1", "main.work", 1, Write},
}

func TestProvenLocks(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for name, flags := range map[string][]string{
			"plain": nil, "not inlined": {"-gcflags=-l"}, "not optimised": {"-gcflags=-N -l"},
		} {
			t.Run(arch+" "+name, func(t *testing.T) {
				a := analyzer(t, buildFor(t, arch, "lockcode", flags...))
				for _, want := range provenLocks {
					for _, p := range during(t, a, want.function, want.calls) {
						if len(p.held) != want.locks || p.unknown || want.locks > 0 && p.held[0].mode != want.mode {
							t.Errorf("%s calls %s: %v are held, want %d", want.function, want.calls, p.held, want.locks)
						}
					}
				}
			})
		}
	}
}
