package vectors

import (
	"bytes"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestMatchGlob(t *testing.T) {
	for _, c := range []struct {
		glob, s string
		want    bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"enc.*", "enc.A", true}, {"*.A", "enc.A", true},
		{"a*b*c", "axxbc", true}, {"a*a", "a", false}, {"*b*", "abc", true}, {"*b*b", "ab", false},
	} {
		if got := matchGlob(c.glob, c.s); got != c.want {
			t.Errorf("%q matches %q: %v", c.glob, c.s, got)
		}
	}
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte(`{"cases":[{"aspects":{"@X":["a*"]},"stacks":[{"frames":["*","a"],"hits":"5/2"}],
		"queries":[{"op":"cost","path":"a","hits":"5/2"}]}]}`))
	f.Add([]byte(`{"cases":[{"stacks":[{"frames":[],"hits":"1/0"}]}]}`))
	f.Add([]byte(`{"cases":[{"stacks":[{"frames":["*"],"hits":"1e999999999"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ReadCallPaths(bytes.NewReader(data))
		if err != nil {
			return
		}
		for i := range v.Cases {
			tree, _, err := v.Cases[i].Tree()
			fixture.Check(t, err)
			fixture.Check(t, tree.Check())
		}
	})
}
