package syncflow

import (
	"fmt"
	"slices"
	"testing"
)

// A function leaves a lock if it returns with it on one way, and
// without it on another. One that takes the lock for its callers
// does not, and neither does one that gives it back on all ways.
func TestLeftLocked(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, buildFor(t, arch, "leftlocked"))
		for _, test := range []struct {
			function string
			want     []string
		}{
			{"main.(*store).update", []string{"line 30: argument 0 + [16]"}},
			{"main.(*store).read", []string{"line 43: argument 0 + [24]"}},
			{"main.flag", []string{"line 56: variable"}},
			{"main.(*store).take", []string{"line 66: always, argument 0 + [16]"}},
			{"main.(*store).balanced", nil},
			{"main.(*store).forgets", []string{"line 88: argument 0 + [16]"}},
			{"main.(*store).deferred", nil},
			{"main.(*store).give", []string{"line 110: given back, argument 0 + [16]"}},
			{"main.(*store).paired", nil},
		} {
			f, ok := a.p.Table.Find(test.function)[test.function]
			if !ok {
				t.Fatalf("no function %s", test.function)
			}
			left, more := a.LeftLocked(f)
			if !more {
				t.Fatal("the budget is used up")
			}
			var got []string
			for _, l := range left {
				frames, _ := a.p.Table.Frames(nil, l.PC)
				where := "variable"
				if l.Path != nil {
					where = fmt.Sprintf("argument %d + %d", slices.Index(a.machine.arguments[:], l.Path.Register), l.Path.Offsets)
				} else if l.Address == 0 {
					where = "nowhere"
				}
				if l.Always {
					where = "always, " + where
				}
				if l.Gives {
					where = "given back, " + where
				}
				got = append(got, fmt.Sprintf("line %d: %s", frames[len(frames)-1].Line, where))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %s leaves %v, want %v", arch, test.function, got, test.want)
			}
		}
	}
}
