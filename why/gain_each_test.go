package why

import (
	"slices"
	"testing"
)

// What goroutines would do without a cost is not known if nothing else
// was seen of many of them, though others of their class do more.
func TestGainOfGoroutinesThatDiffer(t *testing.T) {
	for _, c := range []struct {
		only    int // goroutines that only wait
		unknown bool
	}{{0, false}, {1, false}, {4, true}} {
		s := newScene()
		all, holder := s.spawn(8, "main.worker"), s.spawn(1, "main.holder")
		waits := blocked
		waits.Lock, waits.Holders = 0x100, s.HolderSet(holder)
		s.samples(t, 400, func(i int) {
			s.all(holder, s.at(reads, "main.holder", "main.loop", "os.(*File).Sync"))
			s.sometimes(i, 10, holder[0], s.at(runs, "main.holder", "main.loop"))
			waits.Lock = 0x100 + uint64(i/4%2)*0x100
			s.all(all, s.at(waits, "main.worker", "main.call", "main.get", "sync.(*Mutex).Lock"))
			for k, g := range all[c.only:] {
				if (i/2+k)%5 == 0 {
					s.is[g] = s.at(reads, "main.worker", "main.call", "main.put")
				}
			}
		})
		g := s.asked(t, "main.get", false)
		if g.Times == nil || g.Unbounded() != c.unknown {
			t.Errorf("%d only wait: %+v, %+v", c.only, g, g.Times)
		}
	}
}

// What a limiter paces gets no more done if something else costs less.
func TestGainBesideALimit(t *testing.T) {
	for wait, silent := range map[string]bool{"golang.org/x/time/rate.(*Limiter).wait": true, "main.retry": false} {
		s := newScene()
		all := s.spawn(4, "main.worker")
		s.samples(t, 200, func(i int) {
			s.all(all, s.at(sleeps, "main.worker", "main.call", wait))
			s.some(i, 2, all, s.at(reads, "main.worker", "main.call", "main.get"))
			s.some(i, 15, all, s.at(runs, "main.worker"))
		})
		f := s.find(t).Findings
		i := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == "main.get" })
		if i < 0 || (f[i].Gain.Silent != "") != silent {
			t.Errorf("%s: %+v", wait, f)
		}
	}
}
