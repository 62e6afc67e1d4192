package lockcode

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestTake(t *testing.T) {
	path := fixture.Build(t, "holders")
	c, err := Take(path, func(name string) bool { return strings.HasPrefix(name, "main.") })
	if err != nil {
		t.Fatal(err)
	}
	calls, sure, unsure := 0, 0, 0
	for _, f := range c.Functions {
		calls, sure = calls+f.Calls, sure+f.Sure
		for _, u := range f.Unsure {
			if unsure++; u.Line == 0 || u.Reason == "" {
				t.Errorf("%s: %+v", f.Name, u)
			}
		}
	}
	if c.Calls != calls || c.Sure != sure || calls != sure+unsure || sure == 0 || unsure == 0 {
		t.Errorf("%d calls, %d sure; the functions say %d, %d and %d", c.Calls, c.Sure, calls, sure, unsure)
	}
	for _, r := range c.Unsure {
		unsure -= r.Calls
	}
	if unsure != 0 {
		t.Errorf("%d calls without a reason", unsure)
	}
	worst := c.Worst(len(c.Functions))
	if len(worst)+c.SureEverywhere() != len(c.Functions) {
		t.Errorf("%d functions: %d not sure, %d sure", len(c.Functions), len(worst), c.SureEverywhere())
	}
	for i := range worst[1:] {
		if len(worst[i].Unsure) < len(worst[i+1].Unsure) {
			t.Errorf("%s comes before %s", worst[i].Name, worst[i+1].Name)
		}
	}
	if _, err := Take("lockcode.go", nil); err == nil {
		t.Error("a file that is no program was read")
	}
}
