package report

import (
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/sampledata"
)

// locksJSON is the output of LocksJSON. Exact numbers are strings such as "5/2".
type locksJSON struct {
	Samples   int            `json:"samples"`
	LengthNS  time.Duration  `json:"length_ns"`
	WaitedNS  time.Duration  `json:"waited_ns"` // summed over the goroutines
	Waits     evidenceJSON   `json:"waits"`
	Locks     []lockJSON     `json:"locks"`
	Deadlocks []deadlockJSON `json:"deadlocks"`
	Basis
}

// evidenceJSON has the hits of waiting, and for how many of them the holder is known, and how. The share is one of the time.
type evidenceJSON struct {
	Hits      int64    `json:"hits"`
	Recorded  *big.Rat `json:"recorded"`
	Inferred  *big.Rat `json:"inferred"`
	Likely    *big.Rat `json:"likely"`
	Ambiguous *big.Rat `json:"ambiguous"`
	Free      *big.Rat `json:"free"`  // nobody held the lock
	Woken     *big.Rat `json:"woken"` // goroutines that had been woken to take it, summed over these hits
	Unknown   *big.Rat `json:"unknown"`
	Share     float64  `json:"attributed_share"` // recorded and inferred; without likely
}

func evidenceOf(e *locks.Evidence) evidenceJSON {
	return evidenceJSON{
		e.Hits.Num().Int64(), e.Recorded.Hits, e.Inferred.Hits, e.Likely.Hits, e.Ambiguous.Hits, e.Free.Hits, e.Woken.Hits,
		e.None.Hits, float(e.Share(e.Known())),
	}
}

type lockJSON struct {
	Lock     string        `json:"lock"`
	Name     string        `json:"name"`
	Instance int           `json:"instance"`
	Guessed  bool          `json:"guessed"` // the name is that of the function that takes the lock
	Address  string        `json:"address,omitempty"`
	Type     string        `json:"type,omitempty"`
	Mean     float64       `json:"mean_waiting"`
	WaitedNS time.Duration `json:"waited_ns"`
	Waits    evidenceJSON  `json:"waits"`
	Parts    []partJSON    `json:"instances,omitempty"` // by field
	Waiters  []waiterJSON  `json:"waiters"`
	Holders  []holderJSON  `json:"holders"`
	Held     []pathJSON    `json:"held"` // the call paths of the holders
	Chains   []chainJSON   `json:"chains"`
}

// partJSON is one of the locks of a field.
type partJSON struct {
	Lock     string        `json:"lock"`
	Instance int           `json:"instance"`
	Address  string        `json:"address,omitempty"`
	Hits     *big.Rat      `json:"hits"`
	WaitedNS time.Duration `json:"waited_ns"`
}

type waiterJSON struct {
	Class    string   `json:"class"`
	Function string   `json:"function,omitempty"` // the function that takes the lock
	Reason   string   `json:"reason"`
	Hits     int64    `json:"hits"`
	Time     *big.Rat `json:"time_ns"`
}

type holderJSON struct {
	Class string `json:"class"`
	totalJSON
}

type pathJSON struct {
	Frames []string `json:"frames"` // the holder's class first, then as in a Thread View
	totalJSON
}

type chainJSON struct {
	Links []linkJSON `json:"links"`
	End   string     `json:"end"`
	Class string     `json:"class,omitempty"`
	totalJSON
}

// totalJSON has hits and the nanoseconds that they stand for.
type totalJSON struct {
	Hits *big.Rat `json:"hits"`
	Time *big.Rat `json:"time_ns"`
}

func jsonOf(t calltree.Total) totalJSON { return totalJSON{t.Hits, t.Weight} }

type linkJSON struct {
	Class string `json:"class"`
	Lock  string `json:"lock"`
}

type deadlockJSON struct {
	Samples    int           `json:"samples"`
	First      time.Duration `json:"first_ns"`
	Last       time.Duration `json:"last_ns"`
	Goroutines []memberJSON  `json:"goroutines"`
}

type memberJSON struct {
	Goroutine int64            `json:"goroutine"`
	Class     string           `json:"class"`
	Lock      string           `json:"lock"`
	Frames    []goroutineFrame `json:"frames"`
}

// LocksJSON writes the same as JSON, all locks and all call paths.
func LocksJSON(w io.Writer, r *sampledata.Recording, a *locks.Analysis) error {
	j := locksJSON{
		Samples: a.Samples, LengthNS: a.Length, WaitedNS: a.Evidence.Waited(), Waits: evidenceOf(&a.Evidence), Locks: []lockJSON{}, Deadlocks: []deadlockJSON{},
		Basis: BasisOf(r).With(a.Held.Warnings),
	}
	for _, l := range a.Locks {
		j.Locks = append(j.Locks, lockAsJSON(a, l))
	}
	for _, d := range a.Deadlocks {
		dj := deadlockJSON{Samples: d.Samples, First: r.Samples.Time(int(d.First)), Last: r.Samples.Time(int(d.Last))}
		for _, m := range d.Members {
			mj := memberJSON{Goroutine: m.Goroutine, Class: m.Class, Lock: m.Lock, Frames: []goroutineFrame{}}
			for _, f := range m.Stack {
				mj.Frames = append(mj.Frames, goroutineFrame(f))
			}
			dj.Goroutines = append(dj.Goroutines, mj)
		}
		j.Deadlocks = append(j.Deadlocks, dj)
	}
	return writeJSON(w, j)
}

func lockAsJSON(a *locks.Analysis, l *locks.Lock) lockJSON {
	j := lockJSON{
		Lock: l.String(), Name: l.Name, Instance: l.Instance, Guessed: l.Guessed, Type: l.Kind,
		Mean: float(a.Mean(&l.Evidence)), WaitedNS: l.Waited(), Waits: evidenceOf(&l.Evidence),
		Waiters: []waiterJSON{}, Holders: []holderJSON{}, Held: []pathJSON{}, Chains: []chainJSON{},
	}
	for _, p := range l.Parts {
		part := partJSON{Lock: p.Lock, Instance: p.Instance, Hits: p.Hits, WaitedNS: p.Waited()}
		if p.Address != 0 {
			part.Address = fmt.Sprintf("%#x", p.Address)
		}
		j.Parts = append(j.Parts, part)
	}
	if l.Address != 0 {
		j.Address = fmt.Sprintf("%#x", l.Address)
	}
	for _, w := range l.Waiters {
		j.Waiters = append(j.Waiters, waiterJSON{w.Class, w.In, w.Reason, w.Hits.Num().Int64(), w.Weight})
	}
	for _, h := range l.Holders {
		j.Holders = append(j.Holders, holderJSON{h.Class, jsonOf(h.Total)})
	}
	t := a.Held.Tree
	top := a.HeldAt(l)
	for n := top + 1; n < t.Ends()[top]; n++ {
		if own := t.Main().Ending(n); own.Weight.Sign() > 0 {
			j.Held = append(j.Held, pathJSON{t.Frames(n)[2:], jsonOf(own)})
		}
	}
	for _, c := range l.Chains {
		cj := chainJSON{End: c.End.String(), Class: c.Class, totalJSON: jsonOf(c.Total)}
		for _, k := range c.Links {
			cj.Links = append(cj.Links, linkJSON{k.Class, k.Lock.String()})
		}
		j.Chains = append(j.Chains, cj)
	}
	return j
}
