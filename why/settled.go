package why

import "github.com/cpprof/cpprof/refine/hotspots"

// StopRule decides during a search of a running program whether
// more evidence would still change the answer. Answers come with
// growing evidence, about twice a second.
type StopRule struct {
	first string // what the last answer says first
	same  int    // how many answers in a row said that
}

const (
	settledSamples = 40
	settledAnswers = 4
	settledMargin  = 0.15
)

// Add adds an answer, and reports whether it is sure: the last
// answers agreed on what comes first, its interval is narrow,
// and no hypothesis that would be nearly as severe is undecided.
// An answer without findings takes twice as long.
func (s *StopRule) Add(a *Answer) bool {
	first, severity, margin, need := string(a.State), aProcessor, 0.0, 2*settledAnswers
	if len(a.Findings) > 0 && a.State == Slow {
		f := a.Findings[0]
		first, severity, margin, need = f.key, f.Severity/2, f.Share.Margin(), settledAnswers
	}
	if first == s.first {
		s.same++
	} else {
		s.first, s.same = first, 1
	}
	if a.State == TooLittle || a.State == Undecided || a.Samples < settledSamples ||
		s.same < need || margin > settledMargin {
		return false
	}
	for _, h := range a.Hypotheses {
		if h.Verdict == hotspots.Maybe && h.Note == "" && !h.Kind.row().outside &&
			h.severity > severity {
			return false
		}
	}
	return true
}
