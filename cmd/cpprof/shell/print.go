package shell

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

// list formats summaries, with the numbers that select takes.
func (s *Shell) list(list []*hotspots.Summary) string {
	var b strings.Builder
	s.listed = list
	if s.limit > 0 && len(list) > s.limit {
		s.listed = list[:s.limit]
	}
	termtext.Fprintf(&b, "%4s %9s %9s  %s\n", "", "Cum", "Own", "Path")
	for i, e := range s.listed {
		s.entry(&b, termtext.Sprintf("%4d %9s %9s  ", i, s.percent(e.Cum()), s.percent(e.Own())),
			e.Path())
	}
	return b.String() + more(len(list), len(s.listed))
}

// entry writes a line of a listing that ends with a call sequence.
func (s *Shell) entry(b *strings.Builder, line string, path []string) {
	names := words.Join(path)
	if s.Width > 0 {
		names = termtext.ShortenPaths(names, s.Width-utf8.RuneCountInString(line))
	}
	termtext.Fprintf(b, "%s%s\n", line, names)
}

func more(all, shown int) string {
	if all == shown {
		return ""
	}
	return fmt.Sprintf("     and %d more; \"set limit 0\" shows all\n", all-shown)
}

// describe formats the current summary: its labels, cum, base
// and own cost, the overlap with each label, its path, and the
// nearby summaries.
func (s *Shell) describe() string {
	var b strings.Builder
	if names := s.labelsOf(s.current); len(names) > 0 {
		termtext.Fprintf(&b, "labels   %s\n", words.Join(names))
	}
	termtext.Fprintf(&b, "cum      %s\n", s.cost(s.current.Cum()))
	termtext.Fprintf(&b, "base     %s\n", s.cost(s.current.Base()))
	termtext.Fprintf(&b, "own      %s\n", s.cost(s.current.Own()))
	names := s.labelNames()
	cums, bases := s.profile.Overlaps(s.current, lists.Each(names, s.labelled)...)
	for i, name := range names {
		termtext.Fprintf(&b, "overlap  cum %s, base %s with %s\n", s.percent(cums[i]),
			s.percent(bases[i]), words.Quote(name))
	}
	termtext.Fprintf(&b, "path     %s\n", words.Join(s.current.Path()))
	return b.String() + s.nearby()
}

// A near summary is an extension or trimming of the current one:
// by one call or, with zooming, by several.
type near struct {
	what    string
	names   []string // the calls that were added or dropped
	summary *hotspots.Summary
}

func (s *Shell) nearby() string {
	extensions, trimmings := s.extensions(), s.trimmings()
	shown := extensions
	if s.limit > 0 && len(shown) > s.limit {
		shown = shown[:s.limit]
	}
	s.listed = nil
	if len(shown)+len(trimmings) == 0 {
		return "no nearby summaries\n"
	}
	var b strings.Builder
	termtext.Fprintf(&b, "%4s %9s %9s  %s\n", "", "Cum", "Base", "Nearby")
	for i, n := range append(slices.Clip(shown), trimmings...) {
		s.listed = append(s.listed, n.summary)
		s.entry(&b, termtext.Sprintf("%4d %9s %9s  %s ", i, s.percent(n.summary.Cum()),
			s.percent(n.summary.Base()), n.what), n.names)
	}
	return b.String() + more(len(extensions), len(shown))
}

// extensions returns the extensions at the top and at the bottom
// in one list, the highest cum first. So "select 0" goes where
// the cost is, as in the paper's session.
func (s *Shell) extensions() []near {
	cur := s.current
	length := len(cur.Path())
	tops, bottoms := cur.Tops(), cur.Bottoms()
	if s.zooming {
		tops = hotspots.Zoom(cur, s.cutoff, (*hotspots.Summary).Tops)
		bottoms = hotspots.Zoom(cur, s.cutoff, (*hotspots.Summary).Bottoms)
	}
	var out []near
	for _, t := range tops {
		out = append(out, near{"top", t.Path()[:len(t.Path())-length], t})
	}
	for _, b := range bottoms {
		out = append(out, near{"bottom", b.Path()[length:], b})
	}
	slices.SortStableFunc(out, func(a, b near) int {
		x, y := a.summary.Cum(), b.summary.Cum()
		return y.Abs(y).Cmp(x.Abs(x))
	})
	return out
}

func (s *Shell) trimmings() []near {
	trim := func(t func(*hotspots.Summary) (*hotspots.Summary, bool)) (*hotspots.Summary, bool) {
		if s.zooming {
			return hotspots.ZoomTrim(s.current, s.cutoff, t)
		}
		return t(s.current)
	}
	var out []near
	path := s.current.Path()
	if t, ok := trim((*hotspots.Summary).TrimTop); ok {
		out = append(out, near{"without top", path[:len(path)-len(t.Path())], t})
	}
	if t, ok := trim((*hotspots.Summary).TrimBottom); ok {
		out = append(out, near{"without bottom", path[len(t.Path()):], t})
	}
	return out
}

func (s *Shell) listLabels([]string) (string, error) {
	if len(s.labels) == 0 {
		return "nothing is labelled\n", nil
	}
	var b strings.Builder
	s.listed = nil
	termtext.Fprintf(&b, "%4s %9s %9s  %s\n", "", "Cum", "Base", "Label and path")
	for i, l := range s.labels {
		s.listed = append(s.listed, l.summary)
		line := termtext.Sprintf("%4d %9s %9s  %s: ", i, s.percent(l.summary.Cum()),
			s.percent(l.summary.Base()), words.Quote(l.name))
		s.entry(&b, line, l.summary.Path())
	}
	return b.String(), nil
}

// overlap formats for each labelled summary its cum, what it
// adds to those before it, and what it shares with the others.
func (s *Shell) overlap([]string) (string, error) {
	if len(s.labels) == 0 {
		return "nothing is labelled\n", nil
	}
	all := lists.Each(s.labels, func(l label) *hotspots.Summary { return l.summary })
	var b strings.Builder
	s.listed = all
	termtext.Fprintf(&b, "%4s %9s %9s %9s  %s\n", "", "Cum", "Adds", "Overlap", "Label and path")
	before := new(big.Rat)
	for i, total := range s.profile.TotalCums(all...) {
		others := slices.Delete(slices.Clone(all), i, i+1)
		overlaps, _ := s.profile.Overlaps(all[i], others)
		line := termtext.Sprintf("%4d %9s %9s %9s  %s: ", i, s.percent(all[i].Cum()),
			s.percent(new(big.Rat).Sub(total, before)),
			s.percent(overlaps[0]), words.Quote(s.labels[i].name))
		s.entry(&b, line, all[i].Path())
		before = total
	}
	termtext.Fprintf(&b, "total    cum %s, base %s\n", s.cost(before),
		s.cost(s.profile.TotalBase(all...)))
	return b.String(), nil
}

// labelNames returns each name once, in the order of first use.
func (s *Shell) labelNames() []string {
	var names []string
	for _, l := range s.labels {
		if !slices.Contains(names, l.name) {
			names = append(names, l.name)
		}
	}
	return names
}

func (s *Shell) labelled(name string) []*hotspots.Summary {
	var list []*hotspots.Summary
	for _, l := range s.labels {
		if l.name == name {
			list = append(list, l.summary)
		}
	}
	return list
}

func (s *Shell) labelsOf(of *hotspots.Summary) []string {
	var names []string
	for _, l := range s.labels {
		if slices.Equal(l.summary.Path(), of.Path()) {
			names = append(names, l.name)
		}
	}
	return names
}

// percent formats a cost as a share with two decimals.
func (s *Shell) percent(cost *big.Rat) string {
	return new(big.Rat).Mul(s.profile.Share(cost), big.NewRat(100, 1)).FloatString(2) + "%"
}

// cost formats a cost as a share, and in the unit of the profile
// if it has one.
func (s *Shell) cost(c *big.Rat) string {
	if s.profile.Unit() == "" {
		return s.percent(c)
	}
	if s.profile.Unit() == views.Nanoseconds {
		return fmt.Sprintf("%s (%s)", s.percent(c), report.Nanoseconds(c))
	}
	counted := c.FloatString(2)
	if c.IsInt() {
		counted = c.Num().String()
	}
	return fmt.Sprintf("%s (%s %s)", s.percent(c), counted, s.profile.Unit())
}
