package edit

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"worker", "worker", 0},
		{"wroker", "worker", 1}, {"worker", "workers", 1}, {"kitten", "sitting", 3},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"aspects", "classes", "map"}
	for word, want := range map[string]string{
		"aspect": "aspects", "clases": "classes", "maps": "map", "mpa": "map", "threshold": "", "m": "", strings.Repeat("a", 200): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestSimilar(t *testing.T) {
	known := []string{"x.org/rate.(*Limiter).Wait", "x.org/rate.(*Limiter).wait", "go:main.round.func1", "main.page"}
	for name, want := range map[string]string{
		"(*Limiter).wait": known[1], "*Limiter.wait": known[1], "rate.Limiter.Wait": known[0],
		"rond": known[2], "pgae": known[3], "main.paeg": known[3], "nope": "", strings.Repeat("a", 300): "",
	} {
		got := append(Similar(name, known), "")[0]
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
