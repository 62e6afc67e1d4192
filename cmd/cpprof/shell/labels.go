package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
)

const labelsHeader = "cpprof labels 1"

// maxLabels is the largest number of labels in a file: more than
// anyone needs, and few enough to compare each with each.
const maxLabels = 10_000

// save writes a file that begins with labelsHeader and has a
// line for each labelled summary: its label and its path.
func (s *Shell) save(args []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("save takes the name of one file")
	}
	f, err := s.Create(args[0])
	if err != nil {
		return "", fmt.Errorf("saving labels: %w", err)
	}
	var b strings.Builder
	b.WriteString(labelsHeader + "\n")
	for _, l := range s.labels {
		b.WriteString(words.Quote(l.name) + " " + words.Join(l.summary.Path()) + "\n")
	}
	_, err = io.WriteString(f, b.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("saving labels: %w", err)
	}
	return report.Counted(len(s.labels), "label") + " saved\n", nil
}

// load adds labels. It keeps paths that this profile does not
// have; their cost is 0.
func (s *Shell) load(args []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("load takes the name of one file")
	}
	f, err := s.Open(args[0])
	if err != nil {
		return "", fmt.Errorf("loading labels: %w", err)
	}
	defer f.Close()
	loaded, err := s.readLabels(f)
	if err != nil {
		return "", fmt.Errorf("loading labels: %s: %w", args[0], err)
	}
	var b strings.Builder
	b.WriteString(report.Counted(len(loaded), "label") + " loaded\n")
	for _, l := range loaded {
		s.addLabel(l)
		if l.summary.Empty() {
			termtext.Fprintf(&b, "not in this profile: %s: %s\n", words.Quote(l.name),
				words.Join(l.summary.Path()))
		}
	}
	return b.String(), nil
}

func (s *Shell) readLabels(r io.Reader) ([]label, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || lines.Text() != labelsHeader {
		return nil, fmt.Errorf("the first line is not %q", labelsHeader)
	}
	var loaded []label
	number := 1
	for lines.Scan() {
		number++
		typed, err := words.Split(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(typed) == 0 {
			continue
		}
		if len(loaded) == maxLabels {
			return nil, fmt.Errorf("line %d: more than %d labels", number, maxLabels)
		}
		if len(typed) == 1 {
			return nil, fmt.Errorf("line %d: no call sequence after the label", number)
		}
		loaded = append(loaded, label{typed[0], s.profile.Summary(typed[1:]...)})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	return loaded, nil
}
