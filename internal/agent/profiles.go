package agent

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/google/pprof/profile"
)

// A Kind is a kind of profile, by its name in a URL.
type Kind string

// The kinds that are served.
const (
	Wall Kind = "wall" // what all goroutines did with their time
	// what the holders of locks did while others waited for these locks
	MutexHolders Kind = "mutexholders"

	GoroutineLeak Kind = "goroutineleak" // goroutines that are stuck for good
)

// Kinds lists the kinds that are served.
var Kinds = []Kind{Wall, MutexHolders, GoroutineLeak}

// Profiles are pprof profiles of the same recording, compressed.
type Profiles map[Kind][]byte

// Exported makes the profiles of what 'cpprof export --to pprof'
// writes. If they are pushed, too, it makes one for
// OpenTelemetry.
func Exported(s *export.Subject, pushed bool) (Profiles, error) {
	p, err := export.PprofOf(s)
	if err != nil {
		return nil, err
	}
	made := Profiles{}
	if pushed {
		if made[OpenTelemetry], err = export.OTLPOf(s); err != nil {
			return nil, err
		}
	}
	plain(p)
	for _, kind := range []Kind{Wall, MutexHolders} {
		if kind == MutexHolders {
			p = holders(p) // which changes the profile that was written
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			return nil, err
		}
		made[kind] = b.Bytes()
	}
	if s.Recording.Marking != nil {
		if made[GoroutineLeak], err = leaks(s.Recording); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// plain leaves out what makes a profile exact, but is for cpprof
// only: the parts of nanoseconds, and the comment on them. A
// store would keep a series of each.
func plain(p *profile.Profile) {
	p.Comments = nil
	var kept []int
	for i, t := range p.SampleType {
		if !strings.HasSuffix(t.Type, "_rest") {
			kept = append(kept, i)
		}
	}
	p.SampleType = lists.Each(kept, func(at int) *profile.ValueType { return p.SampleType[at] })
	for _, s := range p.Sample {
		s.Value = lists.Each(kept, func(at int) int64 { return s.Value[at] })
	}
}

// Names in profiles that 'cpprof export' writes.
const (
	monitorFrame = ":MONITOR"
	stateLabel   = "state"
	reasonLabel  = "reason"
	classLabel   = "class"
	waiterLabel  = "waiting_class"
)

// holders keeps the time for which goroutines waited for locks,
// as the stacks of those that held them. The class of those that
// waited is a label, and so is the lock.
func holders(p *profile.Profile) *profile.Profile {
	var kept []*profile.Sample
	for _, s := range p.Sample {
		if !slices.Equal(s.Label[stateLabel], []string{monitorFrame[1:]}) {
			continue
		}
		// Locations begin with the innermost frame, and the holder is below
		// the waiting goroutine's own state.
		at := len(s.Location) - 1
		for at > 0 && !isMonitor(s.Location[at]) {
			at--
		}
		if at > 0 {
			s.Location = s.Location[:at]
		}
		delete(s.Label, stateLabel)
		delete(s.Label, reasonLabel)
		if class := s.Label[classLabel]; class != nil {
			s.Label[waiterLabel] = class
			delete(s.Label, classLabel)
		}
		kept = append(kept, s)
	}
	p.Sample = kept
	return p.Compact()
}

func isMonitor(l *profile.Location) bool {
	return len(l.Line) == 1 && l.Line[0].Function != nil && l.Line[0].Function.Name == monitorFrame
}
