package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/why"
)

// A Together is what several recordings of a program say.
type Together struct {
	Recordings []string      `json:"recordings"`
	Findings   []*why.Common `json:"findings"`
	Text       []string      `json:"text"` // by finding
	Basis
}

// NewTogether puts findings of recordings into words.
func NewTogether(recordings []string, all []*why.Common, basis Basis) *Together {
	t := &Together{Recordings: recordings, Findings: all, Text: []string{}, Basis: basis}
	for _, c := range all {
		t.Text = append(t.Text, t.sentence(c))
	}
	return t
}

// sentence says where a finding holds, and what it is where it costs most.
func (t *Together) sentence(c *why.Common) string {
	var holds []string
	for i, yes := range c.Holds {
		if yes {
			holds = append(holds, t.name(i))
		}
	}
	where := "On all: "
	if len(holds) < len(c.Holds) {
		where = "Only on " + strings.Join(holds, ", ") + ": "
	}
	return where + Sentence(c.Finding)
}

func (t *Together) name(recording int) string { return filepath.Base(t.Recordings[recording]) }

// WriteJSON writes the findings as JSON.
func (t *Together) WriteJSON(w io.Writer) error { return writeJSON(w, t) }

// Write writes the findings, those that hold in most recordings first.
func (t *Together) Write(w io.Writer) error {
	var b strings.Builder
	if len(t.Findings) == 0 {
		fmt.Fprintf(&b, "Nothing was seen to be slow in any of %d recordings.\n", len(t.Recordings))
	}
	for i, c := range t.Findings {
		fmt.Fprintf(&b, "%2d. %s\n", i+1, wrapped(termtext.Printable(t.Text[i]), 4, whyWidth))
		for _, l := range t.about(c) {
			fmt.Fprintf(&b, "    %-6s %s\n", l.name, wrapped(termtext.Printable(l.text), 11, whyWidth))
		}
		b.WriteString("\n")
	}
	_, err := termtext.Fprintf(w, "%s", termtext.Text(b.String()))
	return err
}

// about returns the shares in all recordings, and which one stands out.
func (t *Together) about(c *why.Common) (lines []aboutLine) {
	var shares []string
	for i, e := range c.Shares {
		shares = append(shares, t.name(i)+" "+aboutShare(e))
	}
	if len(shares) > 0 {
		lines = append(lines, aboutLine{"share", strings.Join(shares, ", ")})
	}
	if c.StandsOut >= 0 {
		lines = append(lines, aboutLine{"who", t.name(c.StandsOut) + " stands out"})
	}
	return append(lines, aboutLine{"where", whereText(c.Finding)}, aboutLine{"try", c.Remedy})
}
