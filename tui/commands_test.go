package tui

import (
	"slices"
	"testing"
)

// fewNames is a window that accepts paths of a few names.
type fewNames struct{ window }

func (fewNames) names() []string {
	return []string{"main.(*journal).add", "main.(*journal).flush", "main.worker", ":MONITOR"}
}

func (fewNames) takePath(string) error { return nil }

func TestNamesComplete(t *testing.T) {
	both := func(head string) []string {
		return []string{head + "main.(*journal).add", head + "main.(*journal).flush"}
	}
	for _, c := range []struct {
		line string
		want []string
	}{
		{"main.(*jour", both("")},
		{"* ..main.(*jour", both("* ..")},
		{"prune main.w && !(..main.(*journal).a", []string{"prune main.w && !(..main.(*journal).add"}},
		{"* ..(*jour", both("* ..")}, // a part of a name
		{"* ..:MO", []string{"* ..:MONITOR"}},
		{"* nosuch", nil},
	} {
		if got := (commandLine{w: fewNames{}}).completeNames(c.line); !slices.Equal(got, c.want) {
			t.Errorf("%q becomes %q, want %q", c.line, got, c.want)
		}
	}
}
