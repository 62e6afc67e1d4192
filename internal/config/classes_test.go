package config

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestWrappers(t *testing.T) {
	c := fixture.Must(Parse("cpprof.yaml", []byte(`
wrappers: ["main.spawn.func*", "!golang.org/x/sync/errgroup.*"]
`)))(t)
	for function, want := range map[string]bool{
		"sync.(*WaitGroup).Go.func1": true,
		"main.(*server).loop-fm":     true,
		"main.main.gowrap1":          true,
		"main.main.gowrapper":        false,
		"github.com/nats-io/nats-server/v2/server.(*Server).startGoRoutine.func1": true,
		"main.spawn.func2": true,
		"golang.org/x/sync/errgroup.(*Group).Go.func1": false,
		"main.worker": false,
	} {
		if got := c.wrapper()(function); got != want {
			t.Errorf("%s is a wrapper: %v, want %v", function, got, want)
		}
	}
}

func TestMerge(t *testing.T) {
	c, err := Parse("cpprof.yaml", []byte(`
merge:
  io: ["go:main.read*", "go:main.write", "!go:main.reader"]
  class:all: ["class:io", "label:*"]
`))
	fixture.Check(t, err)
	for class, want := range map[string]string{
		"go:main.readLoop": "class:all", "go:main.write": "class:all", "label:a=b": "class:all",
		"go:main.reader": "go:main.reader", "go:main.main": "go:main.main",
	} {
		if got := c.merged(class); got != want {
			t.Errorf("%s is merged into %s, want %s", class, got, want)
		}
	}
	for text, want := range map[string]string{
		"merge: [a]":                 "merge: want a mapping, not a list",
		"merge: {a b: [\"go:x\"]}":   "a name has letters and digits",
		"merge: {'@a': [\"go:x\"]}":  "a name has letters and digits",
		"merge: {a: \"go:x\"}":       "class:a: want a list of patterns",
		"merge: {a: [\"main.x\"]}":   "matches no class",
		"wrappers: {a: b}":           "wrappers: want a list of patterns",
		"wrappers: [\"re:(\"]":       "regular expression",
		"merg: {a: [\"go:x\"]}":      `did you mean "merge"`,
		"merge: {a: [\"go:x\", 3 ]}": "want a pattern, not a number",
	} {
		if _, err := Parse("cpprof.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := NewMerge("a"); err == nil {
		t.Error("a merge of nothing is no error")
	}
}
