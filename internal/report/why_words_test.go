package report

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/why"
)

// A goroutine alone can't wait for another one.
func TestDeadlockWords(t *testing.T) {
	for count, want := range map[int]string{
		1: "A goroutine waits for a lock that it holds itself: a deadlock. it locks main.mu a second time before it unlocks it",
		2: "2 goroutines wait for one another's locks in a circle: a deadlock. each holds a lock that the next one waits for: main.mu",
	} {
		f := &why.Finding{Kind: why.DeadlockKind, Count: count, Chained: []string{"main.mu"}}
		if got := Sentence(f) + " " + strings.Join(WhyLines(f), " "); got != want {
			t.Errorf("%d goroutines: %q, want %q", count, got, want)
		}
	}
}
