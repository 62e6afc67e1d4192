package interchange

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// longestLine is the most bytes of a line of a text.
const longestLine = 1 << 20

// eachLine calls f with each line that is neither empty nor a
// comment ("#"), without blanks around it. An error says what is
// read, and which line.
func eachLine(r io.Reader, what string, f func(line string) error) error {
	return eachRawLine(r, what, func(line string) error {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			return nil
		}
		return f(line)
	})
}

// eachRawLine is eachLine for all lines, as they are.
func eachRawLine(r io.Reader, what string, f func(line string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	number := 0
	for lines.Scan() {
		number++
		if err := f(lines.Text()); err != nil {
			// if reading has failed, the line may be cut, and the parser's error is no reason
			return fmt.Errorf("%s: line %d: %w", what, number, cmp.Or(lineError(lines.Err()), err))
		}
	}
	if err := lineError(lines.Err()); err != nil {
		return fmt.Errorf("%s: line %d: %w", what, number+1, err)
	}
	return nil
}

// lineError returns an error of a scanner of lines, in words for a person.
func lineError(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return errors.New("it is longer than 1 MB, and such lines are not read: shorten its names")
	}
	return err
}
