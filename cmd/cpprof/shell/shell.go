// Package shell executes the commands of 'cpprof find
// --interactive': the command-line interface in section 2.3 of
// the paper that package hotspots implements. It takes lines and
// returns text; it uses no terminal.
//
//	shell.go     the table of commands, and most of them
//	print.go     the output: listings, the current summary and the nearby ones, overlap
//	labels.go    labels in files
//	complete.go  completion of words
package shell

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/internal/share"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
)

// A Shell is a session of commands. It is not safe for concurrent use.
type Shell struct {
	// Open and Create open the files of load and save. New sets
	// them to the functions of package os.
	Open   func(name string) (io.ReadCloser, error)
	Create func(name string) (io.WriteCloser, error)

	// Next returns the profile to go on with, and its title; nil
	// if there is only one profile.
	Next func() (title string, p *hotspots.Trees, err error)

	// Width is the width of the screen: names in listings that
	// would not fit are shortened. If it is 0, no name is.
	Width int

	profile   *hotspots.Trees
	suggester hotspots.Suggester
	zooming   bool
	cutoff    *big.Rat
	limit     int // the most summaries in a listing; 0 means no limit

	current *hotspots.Summary
	history []*hotspots.Summary
	listed  []*hotspots.Summary // the last listing; select takes its indexes
	labels  []label             // in the order in which they were added
}

// A label is one name of one summary. A summary can have several
// names, and several summaries can have the same name.
type label struct {
	name    string
	summary *hotspots.Summary
}

const defaultLimit = 20

// New starts a session with HighBase, without zooming.
func New(p *hotspots.Trees) *Shell {
	return &Shell{
		Open:      func(name string) (io.ReadCloser, error) { return files.Open(name) },
		Create:    func(name string) (io.WriteCloser, error) { return os.Create(name) },
		profile:   p,
		suggester: hotspots.Suggesters()[0],
		cutoff:    hotspots.DefaultCutoff(),
		limit:     defaultLimit,
	}
}

// A command is the first word of a line. Help and completion
// come from the table of commands.
type command struct {
	name, args, help string
	run              func(s *Shell, args []string) (string, error)
	complete         func(s *Shell, args []string) []string // candidates for the word after args
}

var commands []command

func init() { // not a literal, since help refers to the table
	commands = []command{
		{"set", "suggester NAME | cutoff SHARE | limit N",
			"choose a suggester; the share that zooming keeps, such as 95%; how many summaries a listing shows (0: all)", (*Shell).set, completeSet},
		{"suggest", "", "list the suggester's summaries", (*Shell).suggest, nil},
		{"select", "N | NAME ...",
			"make summary N of the last listing, or the given call sequence, the current one",
			(*Shell).selectSummary, completeNames},
		{"zoom", "on | off", "list nearby summaries with or without zooming", (*Shell).zoom,
			completeWords("on", "off")},
		{"back", "", "return to the summary selected before", (*Shell).back, nil},
		{"label", "NAME", "label the current summary", (*Shell).label, completeLabels},
		{"unlabel", "[NAME]", "remove a label, or all labels, from the current summary",
			(*Shell).unlabel, completeLabels},
		{"labels", "", "list the labelled summaries", (*Shell).listLabels, nil},
		{"overlap", "", "show how much the labelled summaries share, and their total",
			(*Shell).overlap, nil},
		{"save", "FILE", "write the labels to a file", (*Shell).save, nil},
		{"load", "FILE", "add the labels of a file", (*Shell).load, nil},
		{"next", "", "go on with the next class, if no view was chosen; the labels stay with this one", (*Shell).next, nil},
		{"help", "", "list the commands and suggesters", (*Shell).help, nil},
		{"quit", "", "end the session", (*Shell).quit, nil},
	}
}

// Exec runs one line. Empty lines, and those that begin with
// "#", do nothing. After quit, the error is io.EOF.
func (s *Shell) Exec(line string) (string, error) {
	typed, err := words.Split(line)
	if err != nil || len(typed) == 0 || strings.HasPrefix(typed[0], "#") {
		return "", err
	}
	for _, c := range commands {
		if c.name != typed[0] {
			continue
		}
		if c.args == "" && len(typed) > 1 {
			return "", fmt.Errorf("%s takes nothing after it", c.name)
		}
		if c.args != "" && c.args[0] != '[' && len(typed) == 1 {
			return "", fmt.Errorf("%s needs an argument: %s %s", c.name, c.name, c.args)
		}
		return c.run(s, typed[1:])
	}
	return "", fmt.Errorf("unknown command %q; \"help\" lists the commands", typed[0])
}

func (s *Shell) set(args []string) (string, error) {
	value := strings.Join(args[1:], " ")
	switch args[0] {
	case "suggester":
		suggester, err := hotspots.ParseSuggester(value)
		if err == nil {
			s.suggester = suggester
		}
		return "", err
	case "cutoff":
		ratio, err := parseCutoff(value)
		if err == nil {
			s.cutoff = ratio
		}
		return "", err
	case "limit":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return "", fmt.Errorf("%q is not a number of summaries", value)
		}
		s.limit = n
		return "", nil
	}
	return "", fmt.Errorf("there is no setting %q; there are suggester, cutoff and limit", args[0])
}

// parseCutoff reads a share that is not 0.
func parseCutoff(text string) (*big.Rat, error) {
	ratio, err := share.Parse(text)
	if err == nil && ratio.Sign() == 0 {
		err = errors.New("want a share above 0, such as 95% or 0.95")
	}
	if err != nil {
		return nil, fmt.Errorf("cutoff %q: %w", text, err)
	}
	return ratio, nil
}

func (s *Shell) suggest([]string) (string, error) {
	list := s.suggester.Suggest(s.profile)
	if len(list) == 0 {
		return "nothing to suggest\n", nil
	}
	return s.list(list), nil
}

func (s *Shell) selectSummary(args []string) (string, error) {
	chosen, err := s.chosen(args)
	if err != nil {
		return "", err
	}
	if s.current != nil {
		s.history = append(s.history, s.current)
	}
	s.current = chosen
	return s.describe(), nil
}

func (s *Shell) chosen(args []string) (*hotspots.Summary, error) {
	if n, err := strconv.Atoi(args[0]); err == nil && len(args) == 1 {
		switch {
		case len(s.listed) == 0:
			return nil, fmt.Errorf("nothing is listed yet; \"suggest\" lists functions to start with")
		case n < 0 || n >= len(s.listed):
			return nil, fmt.Errorf("no summary %d; the last listing has 0 to %d", n,
				len(s.listed)-1)
		}
		return s.listed[n], nil
	}
	chosen := s.profile.Summary(args...)
	if chosen.Empty() {
		return nil, fmt.Errorf("no call sequence %s in this profile", words.Join(args))
	}
	return chosen, nil
}

func (s *Shell) zoom(args []string) (string, error) {
	if len(args) != 1 || args[0] != "on" && args[0] != "off" {
		return "", fmt.Errorf("zoom can be on or off")
	}
	s.zooming = args[0] == "on"
	if s.current == nil {
		return "", nil
	}
	return s.nearby(), nil
}

func (s *Shell) back([]string) (string, error) {
	last := len(s.history) - 1
	if last < 0 {
		return "", fmt.Errorf("no summary was selected before")
	}
	s.current, s.history = s.history[last], s.history[:last]
	return s.describe(), nil
}

func (s *Shell) label(args []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("want one label: a word, or several words in double quotes")
	}
	if s.current == nil {
		return "", errNothingSelected
	}
	s.addLabel(label{args[0], s.current})
	return "", nil
}

var errNothingSelected = fmt.Errorf("no summary is selected; \"suggest\" lists summaries, \"select N\" selects one")

func (s *Shell) addLabel(l label) {
	for _, known := range s.labels {
		if known.name == l.name && slices.Equal(known.summary.Path(), l.summary.Path()) {
			return
		}
	}
	s.labels = append(s.labels, l)
}

func (s *Shell) unlabel(args []string) (string, error) {
	if s.current == nil {
		return "", errNothingSelected
	}
	if len(args) > 1 {
		return "", fmt.Errorf("want one label: a word, or several words in double quotes")
	}
	before := len(s.labels)
	s.labels = slices.DeleteFunc(s.labels, func(l label) bool {
		return slices.Equal(l.summary.Path(), s.current.Path()) &&
			(len(args) == 0 || l.name == args[0])
	})
	if len(s.labels) == before {
		return "", fmt.Errorf("the current summary does not have this label")
	}
	return "", nil
}

func (s *Shell) next([]string) (string, error) {
	if s.Next == nil {
		return "", fmt.Errorf("there is no other class to go on with")
	}
	title, p, err := s.Next()
	if err != nil {
		return "", err
	}
	s.profile = p
	s.current, s.history, s.listed, s.labels = nil, nil, nil, nil
	return title, nil
}

func (s *Shell) quit([]string) (string, error) { return "", io.EOF }

func (s *Shell) help([]string) (string, error) {
	var b strings.Builder
	for _, c := range commands {
		termtext.Fprintf(&b, "%s\n    %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	b.WriteString("suggesters:\n")
	for _, g := range hotspots.Suggesters() {
		termtext.Fprintf(&b, "  %-15s %s\n", g.Name, g.Help)
	}
	return b.String(), nil
}
