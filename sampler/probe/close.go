package probe

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// A RemovalError says that instruments could be put in, but not
// taken out again fast enough.
type RemovalError struct {
	Functions, Instruments int
	Takes, Limit           time.Duration
	Fits                   int // this number of the functions, from the first one
}

func (e *RemovalError) Error() string {
	return fmt.Sprintf("taking the %d instruments of %d functions out again would take about %v "+
		"on this kernel, longer than %v: probe at most %d of them, or only count calls",
		e.Instruments, e.Functions, e.Takes.Round(100*time.Millisecond), e.Limit, e.Fits)
}

// removable returns a *RemovalError if instruments would be too many.
func (s *Set) removable(functions []Function) error {
	limit := s.options.MaxRemoval
	attached, places, fits := 0, 0, 0
	for i := range functions {
		attached, places = attached+1, places+len(s.entries(&functions[i]))
		if n := len(functions[i].Returns); n > 0 {
			attached, places = attached+1, places+n
		}
		if s.kernel.removal(attached, places) <= limit {
			fits = i + 1
		}
	}
	takes := s.kernel.removal(attached, places)
	if limit == 0 || takes <= limit {
		return nil
	}
	return &RemovalError{
		Functions: len(functions), Instruments: places, Takes: takes, Limit: limit, Fits: fits,
	}
}

// A LeftError says that breakpoints are left in a program.
type LeftError struct {
	Functions []string
	Places    int
	Sure      bool // they are not another tool's
}

func (e *LeftError) Error() string {
	whose := ""
	if !e.Sure {
		whose = ", unless another tool has instruments there (the kernel answers root only)"
	}
	return fmt.Sprintf("the kernel did not take out %d breakpoints of %s%s: until the program ends, "+
		"each costs 10 to 60 µs whenever it is reached",
		e.Places, strings.Join(e.Functions, ", "), whose)
}

// Close takes all instruments out, and compares the program's
// code with the file. The error is a *LeftError if that fails
// for some. Results stays valid. Further calls wait for the
// first one.
func (s *Set) Close() error {
	s.closing.Do(func() { s.left = s.close() })
	return s.left
}

func (s *Set) close() error {
	defer opened.remove(s)
	close(s.stop)
	s.stopped.Wait()
	if s.options.MaxOverhead > 0 {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-1))
	}
	s.finish()
	tell := s.options.TakingOut
	if tell == nil {
		tell = func(int) {}
	}
	places, sure := s.kernel.takeOut(tell)
	tell(0)
	return errors.Join(s.leftAt(places, sure), s.kernel.close())
}

// finish counts for the last time.
func (s *Set) finish() {
	s.recorded.Lock()
	defer s.recorded.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	until := s.kernel.drain(s.calls.add)
	s.calls.closeWindows(until)
	for _, p := range s.probes {
		if p.log != nil && p.log.since != 0 {
			s.calls.endWindow(p.tally, until)
		}
	}
	s.calls.lost = s.kernel.lost()
	now := s.options.Clock()
	for _, p := range s.probes {
		s.count(p, now)
		p.in = false
	}
	s.closed = true
}

// leftAt returns a *LeftError if there are places.
func (s *Set) leftAt(places []uint64, sure bool) error {
	if len(places) == 0 {
		return nil
	}
	e := &LeftError{Places: len(places), Sure: sure}
	own := func(pc uint64) bool { return slices.Contains(places, pc) }
	for _, p := range s.probes {
		f := p.function
		if slices.ContainsFunc(s.entries(f), own) || slices.ContainsFunc(f.Returns, own) {
			e.Functions = append(e.Functions, f.Name)
		}
	}
	return e
}

// opened has all sets of this process that are not closed.
var opened sets

type sets struct {
	opening sync.RWMutex // held for reading while a set is opened
	mu      sync.Mutex
	list    []*Set
}

func (o *sets) add(s *Set) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, s)
}

func (o *sets) remove(s *Set) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, func(one *Set) bool { return one == s })
}

// CloseAll closes all sets of this process, which is about to
// end: no set can be opened afterwards.
func CloseAll() (err error) {
	opened.opening.Lock()
	opened.mu.Lock()
	list := slices.Clone(opened.list)
	opened.mu.Unlock()
	for _, s := range list {
		err = errors.Join(err, s.Close())
	}
	return err
}
