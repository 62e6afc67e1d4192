package why

import (
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A sign is a known pattern behind findings of some kinds. A new one is one
// more row of the table.
type sign struct {
	kinds  []Kind
	share  func(s *searcher, f *Finding) float64 // of the finding, that shows it
	says   string                                // why
	remedy string                                // what then helps; "" is what helps with the kind
}

// isSign is the share of a finding from which a sign is sure.
const isSign = 0.5

// logging matches the functions that write messages to a log.
var logging = regexp.MustCompile(`^log\.|^log/slog\.|^go\.uber\.org/zap|^k8s\.io/klog|` +
	`^github\.com/(sirupsen/logrus|rs/zerolog|golang/glog|hashicorp/go-hclog|go-kit/log)\b`)

var signs = []sign{
	{[]Kind{LockKind},
		func(s *searcher, f *Finding) float64 {
			if s.doing(f, logging) > 0 {
				return 0 // the lock is the log's
			}
			return f.holders(func(c *Cause) bool { return s.e.places.matches(c.Place.stack, logging) })
		},
		"a message is logged while the lock is held", "log it after unlocking"},
	{[]Kind{LockKind},
		func(_ *searcher, f *Finding) float64 {
			return f.holders(func(c *Cause) bool { return c.Activity == Nobody || c.Activity == Ready })
		},
		"a convoy: most of the time, whoever has the lock or was woken to take it does not run yet", ""},
	{[]Kind{LockKind}, onStack(`^sync\.runtime_SemacquireRWMutex$`),
		"writers wait for the readers that came before them", "hold it for reading for less time"},
	{[]Kind{LockKind}, onStack(`^sync\.runtime_SemacquireRWMutexR$`),
		"readers wait for a writer: it has the lock, or waits for earlier readers", ""},
	{[]Kind{ComputeKind, ProcessorKind}, onStack(`^runtime\.Gosched$`),
		"it spins: it gives way with runtime.Gosched, and looks again",
		"wait on a channel, a condition or a lock"},
	{[]Kind{ComputeKind, AllocationKind}, onStack(`^sync\.\(\*Pool\)\.Get$`),
		"a sync.Pool did not have the value", emptyPool},
	{[]Kind{SystemCallKind, BlockingKind},
		onStack(`^os\.\(\*File\)\.Sync$|^syscall\.F(data)?sync$|^golang\.org/x/sys/unix\.F(data)?sync$`),
		"each call waits for the disk", "write several things, and sync once for all"},
}

// onStack returns the share of a finding with a function on the stack.
func onStack(function string) func(*searcher, *Finding) float64 {
	is := regexp.MustCompile(function)
	return func(s *searcher, f *Finding) float64 { return s.doing(f, is) }
}

// doing returns the share of a finding with a matching function on the stack.
func (s *searcher) doing(f *Finding, function *regexp.Regexp) float64 {
	if f.row().hits == nil && !f.row().waits {
		return 0
	}
	total, on := 0.0, 0.0
	hit := s.hits(f)
	for i := range s.e.situations {
		at := &s.e.situations[i]
		if !hit(at) {
			continue
		}
		total += at.weight
		if s.e.places.matches(at.state.Stack, function) {
			on += at.weight
		}
	}
	return on / max(total, 1)
}

// matches reports whether a stack has a matching function.
func (p *places) matches(stack sampledata.NodeID, function *regexp.Regexp) bool {
	return p.above(stack, function.MatchString)
}

// holders returns the share of the waits in which those that the goroutines
// are known to wait for do something.
func (f *Finding) holders(do func(*Cause) bool) (share float64) {
	for i := range f.Causes {
		if c := &f.Causes[i]; (c.Certainty == Known || c.Certainty == Likely) && do(c) {
			share += c.Share
		}
	}
	return share
}

// readSigns finds the signs of the findings. The first remedy holds.
func (a *searched) readSigns() {
	for _, f := range a.Findings {
		f.Remedy = f.Words().Remedy
		if f.Made != nil {
			f.Remedy = makers[f.Made.of].remedy
		}
		known := false
		for _, sign := range signs {
			if !slices.Contains(sign.kinds, f.Kind) || sign.share(a.searcher, f) < isSign {
				continue
			}
			f.Signs = append(f.Signs, sign.says)
			if !known && sign.remedy != "" {
				f.Remedy, known = sign.remedy, true
			}
		}
	}
}
