package session

import (
	"os"
	"testing"
	"time"

	"github.com/cpprof/cpprof/views"
)

// A file of version 1 has the same windows as when it was written.
func TestVersion1(t *testing.T) {
	data, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(data, kinds)
	if err != nil {
		t.Fatal(err)
	}
	want := views.Span{From: 100 * time.Millisecond, To: 4 * time.Second}
	if o := s.Options; o.Accounting != views.Single || o.Span != want || s.Active != 3 || len(s.Windows) != 4 {
		t.Fatalf("it is read as %+v", s)
	}
	if len(s.Aspects) != 1 || s.Aspects[0].Name() != "@journal" {
		t.Errorf("the aspects are %v", s.Aspects)
	}
	server, isProfile := s.Windows[0].(*Profile)
	if !isProfile || server.Class != "" || len(server.Steps) != 2 || exact(server.Threshold.Hits) != "15" || server.Selected != "* ..:RUN" || len(server.Labels) != 1 {
		t.Errorf("window 1 is %+v", s.Windows[0])
	}
	if _, isLocks := s.Windows[1].(*Locks); !isLocks {
		t.Errorf("window 2 is %+v", s.Windows[1])
	}
	thread, isProfile := s.Windows[2].(*Profile)
	if !isProfile || thread.Class != "go:main.worker" || len(thread.Steps) != 8 || exact(thread.Threshold.Cost) != "1/20" || len(thread.Collapsed) != 1 {
		t.Errorf("window 3 is %+v", s.Windows[2])
	}
	both, isComparison := s.Windows[3].(*Comparison)
	if !isComparison || both.Class != "go:main.worker" || both.Against != "../before.cpprof" || len(both.Steps) != 1 || len(both.Labels) != 1 {
		t.Errorf("window 4 is %+v", s.Windows[3])
	}
	again, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Parse(again, kinds); err != nil || len(back.Windows) != len(s.Windows) {
		t.Errorf("%v: it is written as\n%s", err, again)
	}
}
