package why

import (
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Made is a thing that is made again and again.
type Made struct {
	What      string  `json:"what"`       // "connections"
	PerSecond float64 `json:"per_second"` // at least: what is made between two samples is not seen
	Each      float64 `json:"each"`       // seconds that one takes at most, on average
}

// A maker is functions that make a thing which programs can keep.
type maker struct {
	what      string
	functions *regexp.Regexp
}

// makers are the things, the ones that are made for others first.
var makers = []maker{
	{"lookups of addresses", regexp.MustCompile(`^net\.\(\*Resolver\)\.(lookup|Lookup)\w+$`)},
	{"TLS handshakes", regexp.MustCompile(`^crypto/tls\.\(\*Conn\)\.(clientHandshake|serverHandshake)$|^net/http\.\(\*persistConn\)\.addTLS$`)},
	{"connections", regexp.MustCompile(`^net\.\(\*Dialer\)\.Dial\w*$|^net/http\.\(\*Transport\)\.dialConn$`)},
	{"compiled expressions", regexp.MustCompile(`^regexp\.(Must)?Compile(POSIX)?$`)},
	{"parsed templates", regexp.MustCompile(`^(text|html)/template\.\(\*Template\)\.Parse$`)},
	{"encoders and decoders",
		regexp.MustCompile(`^compress/\w+\.New(Writer|Reader)(Level|Dict)*$|^github\.com/klauspost/compress/\w+\.New(Writer|Reader)(Level|Dict)*$`)},
	{"keys", regexp.MustCompile(`^crypto/\w+\.(GenerateKey|GenerateMultiPrimeKey)$`)},
	{"processes", regexp.MustCompile(`^os/exec\.\(\*Cmd\)\.Start$`)},
}

const (
	leastMade = 10 // of a thing that are seen at least if it is made again and again
	eachMakes = 2  // of it, how many each goroutine of a class that lives long
)

// makes returns which of the makers a stack is in, by the innermost one, or -1.
func (s *searcher) makes(stack sampledata.NodeID) int {
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		f := s.e.r.Nodes[n].Function
		if s.makerOf == nil {
			s.makerOf = make([]int8, len(s.e.r.Functions))
		}
		if s.makerOf[f] == 0 {
			s.makerOf[f] = -1
			for i, m := range makers {
				if m.functions.MatchString(s.e.r.Functions[f].Name) {
					s.makerOf[f] = int8(i) + 1
				}
			}
		}
		if s.makerOf[f] > 0 {
			return int(s.makerOf[f]) - 1
		}
	}
	return -1
}

// makingCandidates returns a hypothesis for each thing: that the goroutines
// of a class spend their time on making it.
func (s *searcher) makingCandidates() (all []*candidate) {
	for i, m := range makers {
		of := func(at *situation) bool { return !at.idle && s.makes(at.state.Stack) == i }
		by := make(sums)
		for i := range s.e.situations {
			if at := &s.e.situations[i]; of(at) {
				by[at.class] += at.weight
			}
		}
		if len(by) == 0 {
			continue
		}
		f := &Finding{Kind: MakingKind, Made: &Made{What: m.what},
			specific: MakingKind.row().specific, key: key(MakingKind, m.what)}
		c := s.suffering(f, by, of)
		class := by.most()
		f.Reason = "" // it computes, too
		made := s.episodes(ofClass(class, of))
		f.Made.PerSecond = float64(made) / (s.e.length / 1e9)
		f.Made.Each = by[class] / 1e9 / float64(max(1, made))
		seen := &s.e.classes[class]
		if made < leastMade || made < eachMakes*(seen.goroutines-seen.ended) {
			c.note = "it is made once, as far as is known"
		}
		all = append(all, c)
	}
	return all
}

// episodes counts how often a goroutine came into some situations.
func (s *searcher) episodes(of func(*situation) bool) (n int) {
	hit := s.e.matching(of)
	until := make([]int32, s.e.r.Goroutines.Len()) // the sample after the goroutine's last hit
	for i, run := range s.e.r.Runs.All() {
		if at := s.e.of[i]; at < 0 || !hit[at] {
			continue
		}
		if until[run.Goroutine] != run.First || run.First == 0 {
			n++
		}
		until[run.Goroutine] = run.Last + 1
	}
	return n
}

// makingHits returns the situations in which goroutines of a finding's class
// make its thing.
func (s *searcher) makingHits(f *Finding) func(*situation) bool {
	return ofClass(s.classOf(f), func(at *situation) bool {
		i := s.makes(at.state.Stack)
		return !at.idle && i >= 0 && makers[i].what == f.Made.What
	})
}

// makingMeasure returns the measure of the functions that make a thing, if no
// other thing is made within.
func (s *searcher) makingMeasure(f *Finding) *Measure {
	functions, hit := make(map[string]bool), s.hits(f)
	members := s.members(s.e.byName[f.Class])
	for _, at := range members {
		if hit(at) {
			functions[s.makingFunction(at.state.Stack)] = true
		}
	}
	var paths []string
	for name := range functions {
		for _, at := range members {
			if s.on(at, name) && !hit(at) {
				return nil
			}
		}
		paths = append(paths, through(name))
	}
	if len(paths) > maxLockPlaces {
		return nil
	}
	return measureOf(f.Class, paths...)
}

// makingFunction returns the function of a maker on a stack.
func (s *searcher) makingFunction(stack sampledata.NodeID) string {
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		if s.makerOf[s.e.r.Nodes[n].Function] > 0 {
			return s.e.places.function(n)
		}
	}
	return ""
}

// foldMaking leaves out what goroutines do, or wait for, while they make a
// thing again and again.
func (a *searched) foldMaking() {
	all := a.Findings
	within := func(f, made *Finding) bool {
		if made.Kind != MakingKind || f.Kind == MakingKind ||
			f.row().hits == nil && !f.row().waits {
			return false
		}
		total, both := 0.0, 0.0
		of, making := a.hits(f), a.hits(made)
		for i := range a.e.situations {
			at := &a.e.situations[i]
			if !of(at) {
				continue
			}
			total += at.weight
			if making(at) {
				both += at.weight
			}
		}
		return both > explains*total
	}
	a.Findings = slices.DeleteFunc(slices.Clone(all), func(f *Finding) bool {
		return slices.ContainsFunc(all, func(made *Finding) bool { return within(f, made) })
	})
}
