package main

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/cmd/cpprof/shell"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views/calltree"
)

func TestCompletionOfCommands(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.Add(0, b.Stack("main", "serveHTTP", "a function"), 1, 1)
	b.Add(0, b.Stack("main", "serveÄ"), 1, 1)
	b.Add(0, b.Stack("main", "serveÖ"), 1, 1)
	tree := fixture.Must(b.Tree())(t)
	var listed strings.Builder
	c := completion{shell.New(hotspots.NewSingle(tree)), &listed}
	for _, x := range []struct{ line, want, listed string }{ // "|" is the cursor
		{"sug|", "suggest |", ""},
		{"sel|0", "select |0", ""},
		{"select main ser|", "select main serve|", ""},
		{"select main serve|", "select main serve|", "serveHTTP  serveÄ  serveÖ\n"},
		{"select main serveH|", "select main serveHTTP |", ""},
		{`select main serveHTTP |`, `select main serveHTTP "a function" |`, ""},
		{"select nothing like|", "select nothing like|", ""},
	} {
		listed.Reset()
		pos := strings.IndexByte(x.line, '|')
		line, at, ok := c.key(strings.Replace(x.line, "|", "", 1), pos, '\t')
		if !ok || line[:at]+"|"+line[at:] != x.want || listed.String() != x.listed {
			t.Errorf("Tab in %q makes it %q at %d, lists %q; want %q, %q", x.line, line, at, listed.String(), x.want, x.listed)
		}
	}
	if _, _, ok := c.key("sug", 3, 'g'); ok {
		t.Error("a letter is treated as a Tab")
	}
}
