package interchange

import (
	"bufio"
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
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s: line %d: %w", what, number, atLine(lines, err))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: line %d: %w", what, number+1, lineError(err))
	}
	return nil
}

// atLine returns an error of a line, or the error of reading it,
// if that has cut it.
func atLine(lines *bufio.Scanner, err error) error {
	if cut := lines.Err(); cut != nil {
		return lineError(cut)
	}
	return err
}

// lineError returns an error of a scanner of lines, in words for a person.
func lineError(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return errors.New("it is longer than 1 MB, and such lines are not read: shorten its names")
	}
	return err
}
