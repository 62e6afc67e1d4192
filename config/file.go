// Package config reads cpprof.yaml, and saves aspects into it.
//
//	file.go       what the file says, and where it is found
//	parse.go      reading it; parse_yaml.go has what is wrong with YAML in general
//	save.go       aspects into the file, the rest of which stays as it is
//	builtin.yaml  the aspects that hold unless the file says otherwise
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/caret"
	"github.com/cpprof/cpprof/internal/files"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
)

const (
	// Name is the name of the config file.
	Name = "cpprof.yaml"
	// maxSize bounds the config file, in bytes.
	maxSize = 1 << 20
)

// A Config is what a config file says. It is YAML, without anchors and aliases, and every key may be left out:
//
//	aspects:                    # name: list of patterns (see aspects.Pattern)
//	  queue: ["main.(*queue).*", "!main.(*queue).len"]
//	  "@wire": ["re:example\\.com/.*\\.(Read|Write)Frame"]
//	  log: []                   # takes the built-in @log away
//	priorities:                 # class pattern: integer; 0 for classes that none matches
//	  "go:main.flusher": 1      # of several that match, the first counts
//	classes: function           # or site, or label:KEY
//	threshold: 10               # hits; or a cost: 0.05, 5%
//
// Quotes are needed around what begins with "@", "*" or "!".
type Config struct {
	File       string       // "" if there is none
	Aspects    *aspects.Set // of the file alone; one of no patterns takes a built-in one away
	Priorities []Priority
	Classes    views.ClassBy
	Threshold  refine.Threshold // where every view starts
}

// A Priority gives the goroutines of some thread classes a priority.
type Priority struct {
	Class aspects.Pattern // over class names: "go:main.worker", "label:route=/api"
	Value int32           // higher goes first
}

// Default is what holds without a config file.
func Default() *Config {
	return &Config{Aspects: new(aspects.Set), Threshold: refine.Threshold{Hits: big.NewRat(refine.DefaultMinHits, 1)}}
}

// AllAspects are the aspects in force: the built-in ones, those of the file in place of or after them.
func (c *Config) AllAspects() *aspects.Set { return Builtin().With(c.Aspects.All()...) }

// Priority returns the priority that the config sets for a thread class, if it sets one.
func (c *Config) Priority(class string) (int32, bool) {
	for _, p := range c.Priorities {
		if p.Class.Match(class) {
			return p.Value, true
		}
	}
	return 0, false
}

// Find looks for a config file in a folder and in those above it, and returns the path of the nearest, or "" if there is
// none. It passes by a file above the folder that belongs to another user, who could say there what this one sees; passed lists
// those.
func Find(folder string) (path string, passed []string, err error) {
	start, err := filepath.Abs(folder)
	if err != nil {
		return "", nil, fmt.Errorf("looking for %s: %w", Name, err)
	}
	for folder = start; ; {
		path := filepath.Join(folder, Name)
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir():
		case folder == start || ours(info):
			return path, passed, nil
		default:
			passed = append(passed, path)
		}
		// What can't be looked into can't hold the config of somebody who works below it.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", passed, fmt.Errorf("looking for %s: %w", Name, err)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", passed, nil
		}
		folder = above
	}
}

// Load reads a config file. What is wrong in the file comes as *Error, several of them joined.
func Load(path string) (*Config, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading config: %w", err)
	}
	return Parse(path, data)
}

func read(path string) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	return data, nil
}

// An Error says what is wrong in a config file, and where.
type Error struct {
	File         string
	Line, Column int    // from 1
	Source       string // the line; "" if it is of no help
	Msg          string
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	if e.Source == "" {
		return s
	}
	return s + "\n" + caret.Under(e.Source, byteOffset(e.Source, e.Column))
}

// byteOffset returns the byte at which a column begins, the columns counted in characters from 1.
func byteOffset(line string, column int) int {
	for i := range line {
		if column--; column == 0 {
			return i
		}
	}
	return len(line)
}
