package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// One goroutine that waits with a timer just while others wait may
// gather work. One that always does is no reason, nor are several.
func TestGatherers(t *testing.T) {
	for name, c := range map[string]struct {
		writers, gathers int  // of ten samples, eight of which have waits
		always           bool // the writer rests in that place, too
		says             string
	}{
		"meanwhile":  {1, 8, false, "meanwhile, and hardly ever else, go:main.write waits in a select for channels, in main.write: it may gather work, or wait with them"},
		"for a part": {1, 4, false, "for a part of that time, and hardly ever else, go:main.write"},
		"always":     {1, 8, true, ""},
		"several":    {2, 8, false, ""},
	} {
		s := newScene()
		writers, callers := s.spawn(c.writers, "main.write"), s.spawn(4, "main.call")
		s.samples(t, 200, func(i int) {
			s.all(writers, s.at(idles, "main.write"))
			if i%10 < c.gathers || c.always {
				s.all(writers, s.at(selects, "main.write"))
			}
			s.all(callers, s.at(idles, "main.call"))
			if i%10 < 8 {
				s.all(callers, s.at(idles, "main.call", "log/lib.(*Log).Append"))
			}
		})
		a := s.find(t)
		if len(a.Findings) != 1 {
			t.Fatalf("%s: %+v, %+v", name, a.Findings, a.Hypotheses)
		}
		got := ""
		for _, sign := range a.Findings[0].Signs {
			if strings.Contains(sign, "gather") {
				got = sign
			}
		}
		if !strings.HasPrefix(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%s: the signs are %q", name, a.Findings[0].Signs)
		}
	}
}

// Of two that do the same, it is always the same one that is named.
func TestGatherersAlike(t *testing.T) {
	s := newScene()
	writers := map[string]sampledata.GoroutineID{"main.write1": s.spawn(1, "main.write1")[0], "main.write2": s.spawn(1, "main.write2")[0]}
	caller := s.spawn(1, "main.call")[0]
	s.samples(t, 200, func(i int) {
		s.is[caller] = s.at(idles, "main.call")
		for name, g := range writers {
			if s.is[g] = s.at(idles, name); i%10 < 8 {
				s.is[g], s.is[caller] = s.at(selects, name), s.at(idles, "main.call", "log/lib.(*Log).Append")
			}
		}
	})
	for range 8 {
		a := s.find(t)
		if len(a.Findings) != 1 || !strings.Contains(strings.Join(a.Findings[0].Signs, " "), "go:main.write1") {
			t.Fatalf("%+v", a.Findings)
		}
	}
}

// ask lets goroutines wait in a sample, each time for another channel.
func (s *scene) ask(callers []sampledata.GoroutineID, sample int) {
	for n, g := range callers {
		wait := s.at(idles, "main.call", "main.(*batch).Do")
		wait.Lock = uint64(0x1000 + 16*sample + n)
		s.is[g] = wait
	}
}

// If nobody is at work while goroutines wait in a method, one that
// rests in another method of the type all the time may gather, too.
// Another type's may not, and of two, nobody knows which.
func TestGatherersOfAType(t *testing.T) {
	for name, c := range map[string]struct {
		writers []string
		says    string
	}{
		"the type's": {[]string{"main.(*batch).run"}, "meanwhile, go:main.(*batch).run waits in a select for channels, in main.(*batch).run, a method of the same type: it may gather work until a time"},
		"another's":  {[]string{"main.(*batches).run"}, ""},
		"no method":  {[]string{"main.run"}, ""},
		"two":        {[]string{"main.(*batch).run", "main.(*batch).clean"}, ""},
	} {
		s := newScene()
		callers := s.spawn(4, "main.call")
		writers := make(map[string]sampledata.GoroutineID)
		for _, w := range c.writers {
			writers[w] = s.spawn(1, w)[0]
		}
		s.samples(t, 200, func(i int) {
			for w, g := range writers {
				if s.is[g] = s.at(selects, w); i%50 == 0 {
					s.is[g] = s.at(runs, w)
				}
			}
			s.ask(callers, i)
		})
		a := s.find(t)
		if len(a.Findings) != 1 {
			t.Fatalf("%s: %+v, %+v", name, a.Findings, a.Hypotheses)
		}
		if got := strings.Join(a.Findings[0].Signs, "; "); !strings.HasSuffix(got, c.says) || c.says == "" && strings.Contains(got, "gather") {
			t.Errorf("%s: the signs are %q", name, got)
		}
	}
}

// If nobody is at work, those that sleep and wake again and again may
// end the waits. Of many, nobody knows which.
func TestSleepersMayEndWaits(t *testing.T) {
	for name, c := range map[string]struct {
		pollers []string
		wakes   bool
		each    int // how many samples a wait takes
		ends    int // the sample in which they end; 0 if they don't
		says    string
	}{
		"one":             {[]string{"main.poll"}, true, 50, 0, "meanwhile, go:main.poll sleeps, and wakes again and again: what it does then may end the wait"},
		"two":             {[]string{"main.poll", "main.look"}, true, 50, 0, "meanwhile, go:main.look and go:main.poll sleep, and wake again and again: what they do then may end the wait"},
		"three":           {[]string{"main.poll", "main.look", "main.tidy"}, true, 50, 0, ""},
		"asleep":          {[]string{"main.poll"}, false, 50, 0, ""},
		"before":          {[]string{"main.poll"}, true, 50, 40, ""},
		"while it sleeps": {[]string{"main.poll"}, true, 1, 0, ""},
	} {
		s := newScene()
		callers := s.spawn(4, "main.call")
		pollers := make(map[string]sampledata.GoroutineID)
		for _, p := range c.pollers {
			pollers[p] = s.spawn(1, p)[0]
		}
		s.samples(t, 200, func(i int) {
			for p, g := range pollers {
				if c.ends > 0 && i >= c.ends {
					if i == c.ends {
						s.gone = append(s.gone, g)
					}
					continue
				}
				if s.is[g] = s.at(sleeps, p); c.wakes && i%50 == 0 {
					s.is[g] = s.at(runs, p)
				}
			}
			s.ask(callers, i/c.each)
		})
		a := s.find(t)
		if len(a.Findings) != 1 {
			t.Fatalf("%s: %+v, %+v", name, a.Findings, a.Hypotheses)
		}
		if got := strings.Join(a.Findings[0].Signs, "; "); !strings.HasSuffix(got, c.says) || c.says == "" && strings.Contains(got, "wake") ||
			c.ends == 0 && a.Findings[0].Gain.Silent == "" {
			t.Errorf("%s: the signs are %q, the gain is %+v", name, got, a.Findings[0].Gain)
		}
	}
}

// Tasks that sleep may be at work: it is not said that nobody is.
// Who may end the waits is a guess, and there is no gain.
func TestTasksThatSleep(t *testing.T) {
	s := newScene()
	callers := s.spawn(4, "main.call")
	var tasks []sampledata.GoroutineID
	names := []string{"main.task", "main.job", "main.piece"}
	s.samples(t, 300, func(i int) {
		if i%30 == 0 {
			s.gone, tasks = tasks, nil
			for _, name := range names {
				tasks = append(tasks, s.spawn(3, name)...)
			}
		}
		for k, g := range tasks {
			s.is[g] = s.at(sleeps, names[k/3], names[k/3]+"Work"+[]string{":7", ":8", ":9"}[i%30/10])
		}
		for k, g := range callers {
			wait := s.at(idles, "main.call", "main.(*batch).Do")
			wait.Lock = uint64(0x1000 + 16*(i/30) + k)
			if s.is[g] = wait; i%30 == 0 {
				s.is[g] = s.at(runs, "main.call")
			}
		}
	})
	a := s.find(t)
	i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind })
	if i < 0 || slices.Contains(a.Findings[i].Signs, nobodyElse) || a.Findings[i].Gain.Silent == "" {
		t.Errorf("%+v %+v", a.Findings, a.Hypotheses)
	}
}
