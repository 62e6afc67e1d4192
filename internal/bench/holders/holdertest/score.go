package holdertest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Score counts how correctly the waits for one kind of lock
// were reported: one for each waiter and sample in which the
// program's record shows who held the lock.
type Score struct {
	// holders that were named, by the evidence; a lock that is
	// held is wrongly said to be free
	Right, Wrong [sampledata.Free + 1]int
	Candidates   int // ambiguous: the holders are among the candidates
	Missed       int // ambiguous: a holder is not among the candidates
	Unknown      int // nobody was named

	// waiters that don't count: the lock changed hands during
	// the sample, or nobody held it
	Changed int
}

// Add adds one waiter, given the goroutines that were reported
// and those that held the lock. It reports false if another
// goroutine than a holder was blamed.
func (s *Score) Add(e sampledata.Evidence, reported, held []int64) bool {
	same := slices.Equal(reported, held)
	switch {
	case e == sampledata.NoEvidence:
		s.Unknown++
	case e == sampledata.Ambiguous && containsAll(reported, held):
		s.Candidates++
	case e == sampledata.Ambiguous:
		s.Missed++
	case same:
		s.Right[e]++
	default:
		s.Wrong[e]++
		return false
	}
	return true
}

func containsAll(all, some []int64) bool {
	return !slices.ContainsFunc(some, func(g int64) bool { return !slices.Contains(all, g) })
}

// Named returns how many waiters the holders were named for,
// correctly and wrongly.
func (s *Score) Named() (right, wrong int) {
	for e := range s.Right {
		right, wrong = right+s.Right[e], wrong+s.Wrong[e]
	}
	return right, wrong
}

// Contended returns the number of waiters that count.
func (s *Score) Contended() int {
	right, wrong := s.Named()
	return right + wrong + s.Candidates + s.Missed + s.Unknown
}

func (s *Score) add(o *Score) {
	for e := range s.Right {
		s.Right[e], s.Wrong[e] = s.Right[e]+o.Right[e], s.Wrong[e]+o.Wrong[e]
	}
	s.Candidates, s.Missed, s.Unknown = s.Candidates+o.Candidates, s.Missed+o.Missed,
		s.Unknown+o.Unknown
	s.Changed += o.Changed
}

// Scores has the score of each kind of lock.
type Scores map[string]*Score

// NewScores returns scores in which nothing is counted yet.
func NewScores(kinds []string) Scores {
	s := Scores{}
	for _, k := range kinds {
		s[k] = &Score{}
	}
	return s
}

// Sum returns the sum of all scores.
func (s Scores) Sum() (sum Score) {
	for _, one := range s {
		sum.add(one)
	}
	return sum
}

// row is the format of a row of a table.
const row = "%-22s %9v %9s %8s %10s %8s %8s %6v  %s\n"

// Table returns a table of the scores: for each kind the waiters
// that count, which share of them got which answer, the number
// of wrong answers, and why the holder of this kind of lock is
// not always named. Then it says how often each grade of
// evidence was right.
func (s Scores) Table() string {
	text := fmt.Sprintf(row, "kind", "contended", "inferred", "likely", "candidates", "missed",
		"unknown", "wrong", "")
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		text += s[kind].row(kind)
	}
	sum := s.Sum()
	text += sum.row("all")
	for _, e := range []sampledata.Evidence{sampledata.Inferred, sampledata.Likely} {
		if named := sum.Right[e] + sum.Wrong[e]; named > 0 {
			text += fmt.Sprintf("%s: %d of %d right\n", e, sum.Right[e], named)
		}
	}
	return text
}

func (s *Score) row(kind string) string {
	n := s.Contended()
	share := func(part int) string {
		if part == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(n))
	}
	_, wrong := s.Named()
	return fmt.Sprintf(row, kind, n, share(s.Right[sampledata.Inferred]),
		share(s.Right[sampledata.Likely]), share(s.Candidates),
		share(s.Missed), share(s.Unknown), wrong, Unproven[kind])
}
