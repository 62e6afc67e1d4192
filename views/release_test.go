package views

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Who ended a wait is shown below the wait, and never as the
// holder of a lock.
func TestReleasedBy(t *testing.T) {
	r, err := sampledata.ReadText(strings.NewReader(`cpprof recording 1
function f0 main.worker
function f1 runtime.goexit
function f2 main.producer
function f3 main.send
node n0 f0
node n1 f1
node n2 f2 under=n1
node n3 f3 under=n2
goroutine g0 1 start=f0
sample 0ns weight=3ms
	g0 waiting n0 reason="chan receive" release=n3
sample 3ms weight=1ms
	g0 blocked n0 reason=sync.Mutex.Lock release=n3
end duration time=4ms
`))
	fixture.Check(t, err)
	v := fixture.Must(Thread(r, "go:main.worker", Options{}))(t)
	want := map[string]string{
		"go:main.worker main.worker :WAIT :chan-receive :released-by go:main.producer main.producer main.send":      "3000000",
		"go:main.worker main.worker :MONITOR :unknown-holder :released-by go:main.producer main.producer main.send": "1000000",
	}
	m := v.Tree.Main()
	for n := range int32(v.Tree.Len()) {
		if own := m.Own(n); own.Sign() > 0 && want[strings.Join(v.Tree.Frames(n), " ")] != own.RatString() {
			t.Errorf("%s at %v", own.RatString(), v.Tree.Frames(n))
		}
	}
	if waited, attributed := LockTime(v.Tree); waited.Weight.RatString() != "1000000" || attributed.Weight.Sign() != 0 {
		t.Errorf("%s of %s of waiting for a lock are attributed to holders, want none", attributed.Weight.RatString(), waited.Weight.RatString())
	}
}
