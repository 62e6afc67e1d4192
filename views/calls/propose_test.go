package calls

import (
	"fmt"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
)

func TestPropose(t *testing.T) {
	list := fixture.Must(Propose(served(t, 20), views.Options{}))(t)
	if len(list) != 1 || list[0].Function != "main.send" || list[0].Whole() != 20 {
		t.Errorf("proposed: %+v", list)
	}
	list, err := Propose(served(t, 20), views.Options{Request: func(name string) bool { return name == "main.handle" }})
	fixture.Check(t, err)
	if len(list) != 2 || list[0].Function != "main.handle" || list[1].Function != "main.send" {
		t.Errorf("proposed, main.handle first: %+v", list)
	}
}

// The calls of a function are listed together. So it is not
// proposed for one class if another waits for work in it.
func TestProposeNoRest(t *testing.T) {
	const text = `function f0 main.loop
function f1 main.(*barrier).wait
function f2 main.main
node n0 f0 line=1
node n1 f1 under=n0 line=2
node n2 f2 line=9
node n3 f1 under=n2 line=2
goroutine g0 7 start=f0
goroutine g1 1 start=f2
`
	for rests, want := range map[bool]int{false: 1, true: 0} {
		both := text
		for i := range 40 {
			both += fmt.Sprintf("sample %dms\n", 10*(i+1))
			if at := []string{"n0", "n1", "n1", "n0"}[i%4]; rests {
				both += fmt.Sprintf("    g0 waiting %s reason=\"chan receive\"\n", at)
			}
			switch i % 4 {
			case 0:
				both += "    g1 waiting n2 reason=sleep\n"
			case 1:
				both += "    g1 running n3\n"
			}
		}
		o := views.Options{Role: func(name string) views.Role {
			return map[string]views.Role{"main.(*barrier).wait": views.IdleRole}[name]
		}}
		list := fixture.Must(Propose(read(t, both), o))(t)
		if len(list) != want {
			t.Errorf("others rest there: %t: %+v", rests, list)
		}
	}
}

// Goroutines that do nothing but read may wait for work.
func TestProposeNoReaders(t *testing.T) {
	for does, want := range map[string]int{`waiting n0 reason="IO wait"`: 0, "running n0": 1} {
		text, samples := "function f0 main.read\nnode n0 f0 line=1\n", "sample 10ms\n"
		for i := range 10 {
			text += fmt.Sprintf("goroutine g%d %d start=f0\n", i, i+1)
			samples += fmt.Sprintf("sample %dms\n    g%d %s\nsample %dms\n    g%[2]d gone\n", 20*(i+1), i, does, 20*(i+1)+10)
		}
		list := fixture.Must(Propose(read(t, text+samples), views.Options{}))(t)
		if len(list) != want {
			t.Errorf("%s: %+v", does, list)
		}
	}
}
