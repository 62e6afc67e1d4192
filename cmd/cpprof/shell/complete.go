package shell

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
)

const maxCompletions = 100

// Complete returns the completions of the last word of a line,
// sorted, and at most 100.
func (s *Shell) Complete(line string) []string {
	start := strings.LastIndexFunc(line, unicode.IsSpace) + 1
	prefix := line[start:]
	typed, err := words.Split(line[:start])
	if err != nil {
		return nil
	}
	var out []string
	for _, c := range s.candidates(typed) {
		if c = words.Quote(c); strings.HasPrefix(c, prefix) {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxCompletions)]
}

func (s *Shell) candidates(typed []string) []string {
	var names []string
	for _, c := range commands {
		if len(typed) == 0 {
			names = append(names, c.name)
		} else if c.name == typed[0] && c.complete != nil {
			return c.complete(s, typed[1:])
		}
	}
	return names
}

func completeWords(typed ...string) func(*Shell, []string) []string {
	return func(_ *Shell, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return typed
	}
}

func completeSet(s *Shell, args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"suggester", "cutoff", "limit"}
	case len(args) == 1 && args[0] == "suggester":
		var names []string
		for _, g := range hotspots.Suggesters() {
			kind, _, _ := strings.Cut(g.Name, " ")
			names = append(names, kind)
		}
		return names
	case len(args) == 2 && args[1] == "Typed":
		return s.names(":")
	}
	return nil
}

func completeLabels(s *Shell, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return s.labelNames()
}

// completeNames returns the names that a call sequence can begin or
// continue with.
func completeNames(s *Shell, args []string) []string {
	if len(args) == 0 {
		return s.names("")
	}
	return s.profile.Summary(args...).BottomExtensions()
}

func (s *Shell) names(prefix string) []string {
	var names []string
	for _, i := range s.profile.Initial() {
		if name := i.Path()[0]; strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}
