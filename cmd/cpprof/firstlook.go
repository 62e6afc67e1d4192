package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
)

// firstLookSteps bound the refinements of a first look, so that it fits a screen or two.
const firstLookSteps = 12

// firstLook shows what a person wants to see first: what was recorded, the classes, where the processors' time
// goes, and what the class waits for that waits most for locks and processors; and says how to go on.
func firstLook(t terminal, s *source, limit refine.Threshold, color bool) error {
	classes, err := views.Classes(s.recording, s.options)
	if err != nil {
		return err
	}
	if err := report.Headline(t.out, s.path, s.recording); err != nil {
		return err
	}
	waits, err := locks.Summarise(s.recording, s.options)
	if err != nil {
		return err
	}
	if warning := report.Deadlocks(s.path, waits.Deadlocks); warning != "" {
		fmt.Fprintln(t.out, warning)
	}
	if len(classes) == 0 {
		_, err := fmt.Fprintln(t.out, "No goroutine was seen: the recording has no samples in this span.")
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(classes), isIdleRuntime)
	if err := report.Classes(t.out, shown); err != nil {
		return err
	}
	if n := len(classes) - len(shown); n > 0 {
		fmt.Fprintf(t.out, "(%d of the runtime's own hardly did anything; 'cpprof classes %s' lists all)\n", n, shellWord(s.path))
	}
	server, err := s.serverView()
	if err != nil {
		return err
	}
	held := mostHeldUp(classes)
	thread, err := s.threadView(held)
	if err != nil {
		return err
	}
	for _, v := range []*view{server, thread} {
		session := refine.NewSession(v.Tree, v.aspects)
		session.SetThreshold(limit)
		session.Auto(firstLookSteps)
		fmt.Fprintln(t.out)
		p := report.Profile{Session: session, Title: title(s, v), Warnings: v.Warnings, Color: color}
		if err := p.Write(t.out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(t.out, `
Go on with
  cpprof report %[1]s --server --extended '*'
  cpprof report %[1]s --thread %[2]s --down '*'
  cpprof cost %[1]s --thread %[2]s '* ..:MONITOR'
`, shellWord(s.path), shellWord(held))
	return err
}

// isIdleRuntime tells whether a class is the runtime's own and waited for 95 % of its time or more.
func isIdleRuntime(c views.ClassSummary) bool {
	if !strings.HasPrefix(c.Class, "go:runtime.") || c.Class == "go:runtime.main" {
		return false
	}
	return new(big.Rat).SetFrac64(c.Hits, 20).Cmp(new(big.Rat).Sub(new(big.Rat).SetInt64(c.Hits), c.Wait)) >= 0
}

// mostHeldUp is the class whose goroutines spent most time waiting for locks and processors; where none did,
// the one that ran most.
func mostHeldUp(classes []views.ClassSummary) string {
	heldUp := func(c views.ClassSummary) *big.Rat {
		sum := new(big.Rat).Add(c.Load, c.Prio)
		return sum.Add(sum, c.Monitor)
	}
	best := classes[0]
	for _, c := range classes[1:] {
		d := heldUp(c).Cmp(heldUp(best))
		if d > 0 || d == 0 && c.Run.Cmp(best.Run) > 0 {
			best = c
		}
	}
	return best.Class
}
