package aspects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/views"
)

const (
	// ConfigName is the name of the config file.
	ConfigName = "cpprof.yaml"
	// maxConfig bounds the config file, in bytes.
	maxConfig = 1 << 20
)

// A Config is what a config file says. It is YAML, without anchors and aliases, and every key may be left out:
//
//	aspects:                    # name: list of patterns (see Pattern)
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
	File       string // "" where there is none
	Aspects    *Set   // of the file alone; one of no patterns takes a built-in one away
	Priorities []Priority
	Classes    views.ClassBy
	Threshold  Threshold
}

// A Priority gives the goroutines of some thread classes a priority.
type Priority struct {
	Class Pattern // over class names: "go:main.worker", "label:route=/api"
	Value int32   // higher goes first
}

// DefaultConfig is what holds without a config file.
func DefaultConfig() *Config {
	return &Config{Aspects: new(Set), Threshold: DefaultThreshold}
}

// AllAspects are the aspects in force: the built-in ones, those of the file in place of or after them.
func (c *Config) AllAspects() *Set { return Builtin().With(c.Aspects.aspects...) }

// Priority gives the priority that the config sets for a thread class, if it sets one.
func (c *Config) Priority(class string) (int32, bool) {
	for _, p := range c.Priorities {
		if p.Class.Match(class) {
			return p.Value, true
		}
	}
	return 0, false
}

// FindConfig looks for a config file in a folder and in those above it, and gives the path of the nearest, or ""
// where there is none.
func FindConfig(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", ConfigName, err)
	}
	for {
		path := filepath.Join(folder, ConfigName)
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			return path, nil
		}
		// What can't be looked into can't hold the config of somebody who works below it.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("looking for %s: %w", ConfigName, err)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", nil
		}
		folder = above
	}
}

// LoadConfig reads a config file. What is wrong in the file comes as *ConfigError, several of them joined.
func LoadConfig(path string) (*Config, error) {
	data, err := readConfig(path)
	if err != nil {
		return nil, fmt.Errorf("reading config: %w", err)
	}
	return ParseConfig(path, data)
}

func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, err
	}
	return data, nil
}

// A ConfigError says what is wrong in a config file, and where.
type ConfigError struct {
	File         string
	Line, Column int    // from 1
	Source       string // the line; "" where it is of no help
	Msg          string
}

func (e *ConfigError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	if e.Source == "" {
		return s
	}
	return fmt.Sprintf("%s\n    %s\n    %s^", s, e.Source, blanks(e.Source, byteOffset(e.Source, e.Column)))
}

// byteOffset gives the byte at which a column begins, the columns counted in characters from 1.
func byteOffset(line string, column int) int {
	for i := range line {
		if column--; column == 0 {
			return i
		}
	}
	return len(line)
}
