package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestDefinitions(t *testing.T) {
	c, err := Parse("cpprof.yaml", []byte("metrics:\n  cache.missRate: delta(misses) / delta(reads)\n  half: 0.5\nlists:\n  slow: \"!fast & busy\"\n"))
	fixture.Check(t, err)
	if want := []Definition{{"cache.missRate", "delta(misses) / delta(reads)"}, {"half", "0.5"}}; !slices.Equal(c.Metrics, want) {
		t.Errorf("metrics %v", c.Metrics)
	}
	if want := []Definition{{"slow", "!fast & busy"}}; !slices.Equal(c.Lists, want) {
		t.Errorf("lists %v", c.Lists)
	}
	for text, want := range map[string]string{
		"metrics:\n  a b: 1":       `cpprof.yaml:2:3: metrics: "a b" is no name: it has letters, digits and _, and may have dots`,
		"lists:\n  all: x > 1":     `cpprof.yaml:2:3: lists: "all" means something else in expressions`,
		"lists:\n  a: [x]":         "cpprof.yaml:2:6: lists: a: want an expression, not a list",
		"metrics:\n  a: ' '":       "cpprof.yaml:2:3: metrics: want an expression, such as",
		"metrics:\n  a:":           "metrics: a: want an expression, not nothing",
		"lists: [a]":               "lists: want a mapping, not a list",
		"metrics:\n  a: 1\n  a: 2": `metrics: "a" is already in line 2`,
	} {
		if _, err := Parse("cpprof.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestParseDefinition(t *testing.T) {
	if d, err := ParseDefinition("slow = a == 1"); err != nil || d != (Definition{"slow", " a == 1"}) {
		t.Errorf("%+v, %v", d, err)
	}
	for _, s := range []string{"slow", "=1", "a=", "1a=2", "not=1"} {
		if d, err := ParseDefinition(s); err == nil {
			t.Errorf("%q is %+v", s, d)
		}
	}
}

func TestMonitors(t *testing.T) {
	c, err := Parse("x", []byte("monitors: [main.served, 'len(main.jobs)', http://127.0.0.1:2112/metrics]\n"))
	fixture.Check(t, err)
	if want := []string{"main.served", "len(main.jobs)", "http://127.0.0.1:2112/metrics"}; !slices.Equal(c.Monitors, want) {
		t.Errorf("monitors %v", c.Monitors)
	}
	for _, text := range []string{"monitors: main.served\n", "monitors: [1]\n", "monitors: [[a]]\n"} {
		if _, err := Parse("x", []byte(text)); err == nil || !strings.Contains(err.Error(), "monitors: want") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
