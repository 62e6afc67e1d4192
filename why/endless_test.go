package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A goroutine that is in a function all the time, while others of
// its class come and go, may never return.
func TestCallThatNeverReturns(t *testing.T) {
	const inAll = " in main.parse in all samples"
	for name, c := range map[string]struct {
		others, class string                                 // function, what the class begins with
		is            func(s *scene, i int) sampledata.State // of the one
		stuck         int
		want          string
	}{
		"one":              {"main.parse", "main.render", nil, 1, "a goroutine was" + inAll},
		"two":              {"main.parse", "main.render", nil, 2, "2 goroutines were" + inAll},
		"others do not":    {"main.send", "main.render", nil, 1, ""},
		"it is the loop":   {"main.parse", "main.parse", nil, 1, ""},
		"it mostly waits":  {"main.parse", "main.render", func(s *scene, i int) sampledata.State { return s.at(reads, "main.render", "main.parse", "main.next") }, 1, ""},
		"others stay long": {"main.parse:9", "main.render", nil, 1, ""},
	} {
		s := newScene()
		all := s.spawn(6, c.class)
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(reads, c.class, "main.next"))
			long, turn := c.others == "main.parse:9", i
			if long {
				turn = i / 40
			}
			s.some(turn, 2, all, s.at(runs, c.class, c.others, "main.scan"))
			for _, g := range all[:c.stuck] {
				s.is[g] = s.at(runs, c.class, "main.parse", []string{"main.scan", "main.scan", "main.skip"}[i%3])
				if c.is != nil && i%10 > 0 {
					s.is[g] = c.is(s, i)
				}
			}
		})
		said := ""
		for _, f := range s.find(t).Findings {
			if i := slices.IndexFunc(f.Signs, func(sign string) bool { return strings.Contains(sign, "in all samples") }); i >= 0 {
				said = f.Signs[i]
			}
		}
		if c.want == "" && said != "" || !strings.HasPrefix(said, c.want) {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// The only goroutine of a class that is in a function of a library all the
// time is in one long call, or in several that follow at once. Of the
// program's own functions, that is nothing special.
func TestCallOfALibraryThatNeverReturns(t *testing.T) {
	const parse = "example.com/json/lib.Parse"
	for name, c := range map[string]struct {
		goroutines int
		in         string
		calls      []string
		said       bool
	}{
		"one":              {1, parse, []string{"example.com/json/lib.next", "example.com/json/lib.skip"}, true},
		"it calls back":    {1, parse, []string{"example.com/json/lib.next", "main.field"}, false},
		"of the program":   {1, "main.parse", []string{"main.next", "main.skip"}, false},
		"one of two":       {2, parse, []string{"example.com/json/lib.next", "example.com/json/lib.skip"}, false},
		"it is left":       {1, "", []string{parse, parse, parse, parse, "main.other"}, false},
		"a library's loop": {0, parse, []string{"example.com/json/lib.next", "example.com/json/lib.skip"}, false},
	} {
		s := newScene()
		first := []string{"main.worker", "main.step"}
		if c.goroutines == 0 {
			first = []string{"example.com/json/lib.Start.func1", "example.com/json/lib.loop"}
		}
		all := s.spawn(max(1, c.goroutines), first[0])
		s.samples(t, 100, func(i int) {
			for _, g := range all {
				stack := append(slices.Clone(first), c.in, c.calls[i%len(c.calls)])
				s.is[g] = s.at(runs, slices.DeleteFunc(stack, func(name string) bool { return name == "" })...)
			}
		})
		said := slices.ContainsFunc(s.find(t).Findings, func(f *Finding) bool {
			says := slices.IndexFunc(f.Signs, func(sign string) bool { return strings.Contains(sign, "in all samples: one call") })
			if silent := f.Gain.Silent == (&Finding{oneCall: true}).silent(); silent != (says >= 0) || silent && !strings.Contains(f.Signs[says], " "+parse+" ") {
				t.Errorf("%s: %q, %+v", name, f.Signs, f.Gain)
			}
			return says >= 0
		})
		if said != c.said {
			t.Errorf("%s: said %t", name, said)
		}
	}
}
