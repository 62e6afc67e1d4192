// Package config reads cpprof.yaml, and saves aspects and merged classes
// into it.
//
//	file.go       the content of the file, and how it is found
//	parse.go      parsing the content; parse_yaml.go parses the YAML below it
//	idle.go       which functions wait for work
//	classes.go    thread classes: wrappers, and classes that are merged
//	metrics.go    names of metrics and sample lists
//	set.go        one setting, as a flag gives it
//	save.go       saving aspects and merged classes into the file, without other changes to it
//	builtin.yaml  the aspects and wrappers that apply unless the file redefines them
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/caret"
	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
)

const (
	// Name is the name of the config file.
	Name = "cpprof.yaml"
	// maxSize bounds the config file, in bytes.
	maxSize = 1 << 20
)

// A Config is the content of a config file. The file is YAML
// without anchors and aliases. Every key may be left out:
//
//	aspects:                    # name: list of patterns (see aspects.Pattern)
//	  queue: ["main.(*queue).*", "!main.(*queue).len"]
//	  "@wire": ["re:example\\.com/.*\\.(Read|Write)Frame"]
//	  log: []                   # removes the built-in @log
//	priorities:                 # class pattern: integer; 0 for classes that no pattern matches
//	  "go:main.flusher": 1      # if several match, the first counts
//	classes: function           # or site, or label:KEY
//	wrappers: ["pool.(*P).run"] # also skipped for the name of a class: functions that call one that they were given
//	merge:                      # class:NAME has the goroutines of all classes that match
//	  connections: ["go:main.(*conn).*", "!go:main.(*conn).watch"]
//	threshold: 10               # hits; or a cost: 0.05, 5%
//	slow: 0.1                   # the share above which something is slow
//	accounting: observed        # or single, processors: see views.Accounting
//	inlines: true               # false: inlined calls belong to their callers
//	metrics:                    # name: expression over monitors (see package monitors)
//	  missRate: delta(cache.misses) / delta(cache.reads)
//	lists:                      # name: predicate, or expression over other lists
//	  busy: rate(process.cpu) > 5e8
//	monitors: [main.served]     # also recorded, as by record --monitor
//
// Text that begins with "@", "*" or "!" needs quotes.
type Config struct {
	File       string       // "" if there is none
	Aspects    *aspects.Set // only the file's; one without patterns removes a built-in one
	Priorities []Priority
	Classes    views.ClassBy
	Wrappers   []aspects.Pattern // in addition to the built-in ones
	Merges     []Merge           // they apply one after the other
	Threshold  refine.Threshold  // the initial threshold of every view
	Slow       float64           // the share above which something is slow; 0: not set
	Accounting views.Accounting
	NoInlines  bool // inlined calls belong to their callers
	// what they mean depends on the monitors of a recording, so
	// the expressions are not checked here
	Metrics  []Definition
	Lists    []Definition // of samples; likewise
	Monitors []string     // what record --monitor takes; not checked here, either
}

// A Definition is a name for an expression.
type Definition struct {
	Name string `json:"name"`
	Expr string `json:"expr"`
}

// A Priority gives the goroutines of some thread classes a priority.
type Priority struct {
	Class aspects.Pattern // over class names: "go:main.worker", "label:route=/api"
	Value int32           // higher runs first
}

// Default returns the configuration without a config file.
func Default() *Config {
	return &Config{Aspects: new(aspects.Set),
		Threshold: refine.Threshold{Hits: big.NewRat(refine.DefaultMinHits, 1)}}
}

// AllAspects returns the built-in aspects and the file's. An
// aspect of the file replaces a built-in one of the same name;
// the others come after the built-in ones.
func (c *Config) AllAspects() *aspects.Set { return Builtin().With(c.Aspects.All()...) }

// Priority returns the priority that the config sets for a
// thread class, if it sets one.
func (c *Config) Priority(class string) (int32, bool) {
	for _, p := range c.Priorities {
		if p.Class.Match(class) {
			return p.Value, true
		}
	}
	return 0, false
}

// Find searches for a config file in a folder and in the folders
// above it. It returns the path of the nearest file, or "" if
// there is none. Above the folder, it ignores the files of other
// users, since such a file could change what this user sees. It
// returns their paths in ignored.
func Find(folder string) (path string, ignored []string, err error) {
	start, err := filepath.Abs(folder)
	if err != nil {
		return "", nil, fmt.Errorf("searching for %s: %w", Name, err)
	}
	for folder = start; ; {
		path := filepath.Join(folder, Name)
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir():
		case folder == start || ours(info):
			return path, ignored, nil
		default:
			ignored = append(ignored, path)
		}
		// If a folder can't be read, it can't have the config of
		// a person who works below it.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", ignored, fmt.Errorf("searching for %s: %w", Name, err)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", ignored, nil
		}
		folder = above
	}
}

// Load reads a config file. Each mistake in the file is an
// *Error; several are joined.
func Load(path string) (*Config, error) {
	data, err := files.Read(path, maxSize+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no config file %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading config: %w", err)
	}
	return Parse(path, data)
}

// An Error is a mistake in a config file, with its place.
type Error struct {
	File         string
	Line, Column int    // from 1
	Source       string // the line; "" if it can't be shown
	Msg          string
}

// TerminalText returns the message, which is printable.
func (e *Error) TerminalText() string { return e.Error() }

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	s = termtext.Printable(s)
	if e.Source == "" {
		return s
	}
	return s + "\n" + caret.Under(e.Source, byteOffset(e.Source, e.Column))
}

// byteOffset returns the byte at which a column begins. Columns count
// characters from 1.
func byteOffset(line string, column int) int {
	for i := range line {
		if column--; column == 0 {
			return i
		}
	}
	return len(line)
}
