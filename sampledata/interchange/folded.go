package interchange

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
)

// folded is the format of flamegraph.pl and its relatives: a
// line for each stack, with its functions from the outermost on,
// and how often it was seen.
//
//	main;handle;encode 42
var folded = Format{
	Name:  "folded",
	Title: "a file of folded stacks",
	Lines: true,
	Sniff: isFolded,
	Read:  readFolded,
}

// isFolded reports whether all whole lines at the beginning are
// stacks, and at least one has several functions. If none has,
// the line that is cut at the end decides: a deep stack alone
// can be longer than the beginning.
func isFolded(s Start) bool {
	several := false
	lines := bytes.SplitAfter(s.Bytes, []byte("\n"))
	var rest []byte
	if s.cut() {
		lines, rest = lines[:len(lines)-1], lines[len(lines)-1]
	}
	for _, line := range lines {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		stack, _, err := splitFolded(text)
		if err != nil {
			return false
		}
		several = several || strings.Contains(stack, ";")
	}
	return several || beginsStack(string(rest))
}

// beginsStack reports whether a text is the beginning of a stack
// of several functions, cut somewhere: semicolons with something
// between them that can be the name of a function.
func beginsStack(text string) bool {
	functions := strings.Split(text, ";")
	functions = functions[:len(functions)-1] // the last one is cut
	return len(functions) > 1 && !slices.ContainsFunc(functions,
		func(name string) bool { return !canBeFunction(name) })
}

// canBeFunction reports whether a text between two semicolons
// can be the name of a function. Unlike clauses of prose, names
// in folded stacks have no blanks around them. Unlike code in
// one line, they close each bracket. They aren't numbers, and
// have no quotes. Only operators have equality signs.
func canBeFunction(name string) bool {
	if name == "" || name != strings.TrimSpace(name) ||
		strings.Trim(name, "0123456789.,-+") == "" || !utf8.ValidString(name) {
		return false
	}
	if strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, `"`) ||
		strings.Contains(name, "=") && !strings.Contains(name, "operator") {
		return false
	}
	return !slices.ContainsFunc([]string{"()", "[]", "{}"}, func(pair string) bool {
		return strings.Count(name, pair[:1]) != strings.Count(name, pair[1:])
	})
}

// splitFolded returns the functions and the count of a line.
func splitFolded(line string) (stack string, count int64, err error) {
	i := strings.LastIndexByte(line, ' ')
	if i <= 0 {
		return "", 0, fmt.Errorf("%.200q has no count; expected functions with semicolons between them, a blank and a number", line)
	}
	count, err = strconv.ParseInt(line[i+1:], 10, 64)
	if err != nil || count < 0 {
		return "", 0, fmt.Errorf("%.40q is not a count", line[i+1:])
	}
	return strings.TrimSpace(line[:i]), count, nil
}

func readFolded(in *Input, o Options) (*sampledata.Recording, error) {
	w := newWeighing(memory.NewBudget(o.MaxMemory),
		sampledata.Quantity{Name: "samples", Unit: "count", Parts: 1})
	if err := eachLine(in, "folded stacks", w.folded); err != nil {
		return nil, err
	}
	if len(w.rec.Profile.Stacks) == 0 {
		return nil, errors.New("folded stacks: there are none; expected lines such as \"main;handle 42\"")
	}
	return w.recording("", o.Value)
}

func (w *weighing) folded(line string) error {
	stack, count, err := splitFolded(line)
	if err != nil {
		return err
	}
	for stack != "" {
		i := strings.LastIndexByte(stack, ';')
		name := strings.TrimSpace(stack[i+1:])
		stack = stack[:max(i, 0)]
		if name == "" {
			continue
		}
		if err := w.call(name); err != nil {
			return err
		}
	}
	return w.row(nil, count)
}
