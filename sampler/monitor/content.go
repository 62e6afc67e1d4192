package monitor

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A content is what a file says at one moment.
type content struct{ text []byte }

// fileSource returns a source of the values in one file, which
// is read only now and then. PID in its path stands for the
// number of the process. An error of the file comes with the
// remedy, if there is one.
func fileSource(path string, every time.Duration, remedy error, columns []column[content]) Source {
	return source(Source{Every: every}, columns,
		func(t Target) (func(*content) error, func() error, error) {
			because := func(err error) error {
				if err != nil && remedy != nil {
					return fmt.Errorf("%w: %w", err, remedy)
				}
				return err
			}
			f, err := openFile(strings.Replace(path, "PID", strconv.Itoa(t.PID), 1))
			if err != nil {
				return nil, nil, because(err)
			}
			return func(c *content) (err error) {
				c.text, err = f.read()
				return because(err)
			}, f.close, nil
		})
}

// noLine says why a file has no value.
const noLine = "the kernel's file has no such line"

// valueOf returns the text after a key in lines such as "nr_periods 12".
func valueOf(text []byte, key string) []byte {
	for line := range bytes.Lines(text) {
		if len(line) > len(key) && string(line[:len(key)]) == key &&
			(line[len(key)] == ' ' || line[len(key)] == '\t') {
			return bytes.TrimSpace(line[len(key):])
		}
	}
	return nil
}

// numberOf returns a number that is not negative; false for
// "max", "-1" and nothing.
func numberOf(text []byte) (uint64, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] < '0' || text[0] > '9' { // an error of ParseUint is not free
		return 0, false
	}
	n, err := strconv.ParseUint(string(text), 10, 63)
	return n, err == nil
}

// countOf returns a multiple of a unit as the value of a counter.
func countOf(text []byte, unit uint64) sampledata.Value {
	n, ok := numberOf(text)
	if !ok {
		return sampledata.Value{}
	}
	return sampledata.Count(n * unit)
}
