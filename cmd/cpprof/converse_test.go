package main

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/bottlenecks"
	"github.com/cpprof/cpprof/calltree"
)

func TestCompletionOfCommands(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.Add(0, b.Stack("main", "serveHTTP", "a function"), 1, 1)
	b.Add(0, b.Stack("main", "serveÄ"), 1, 1)
	b.Add(0, b.Stack("main", "serveÖ"), 1, 1)
	tree, err := b.Tree()
	if err != nil {
		t.Fatal(err)
	}
	var listed strings.Builder
	c := completion{bottlenecks.NewShell(bottlenecks.NewSingle(tree)), &listed}
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
			t.Errorf("Tab in %q gives %q at %d, lists %q; want %q, %q", x.line, line, at, listed.String(), x.want, x.listed)
		}
	}
	if _, _, ok := c.key("sug", 3, 'g'); ok {
		t.Error("a letter is taken for a Tab")
	}
}

func TestShare(t *testing.T) {
	for text, want := range map[string]string{"5%": "1/20", "0.05": "1/20", "100 %": "1", "0": "0", "0.1%": "1/1000", "1": "1"} {
		if got, err := share("--x", text); err != nil || got.RatString() != want {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "-1%", "101%", "1.5", "1e999", "five"} {
		if got, err := share("--x", text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
