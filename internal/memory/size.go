package memory

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Size is a number of bytes. It is a flag's value, such as
// "512MB" or "2GB".
type Size int64

var units = []struct {
	name  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"", 1}}

// String returns the number as a multiple of the largest
// possible unit, 0 as "".
func (s Size) String() string {
	for _, u := range units {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return ""
}

// Set reads a number with or without a unit.
func (s *Size) Set(text string) error {
	for _, u := range units {
		digits, ok := strings.CutSuffix(strings.ToUpper(text), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is no size: want one such as 512MB or 2GB", text)
}

// Type returns what a flag's help calls the value.
func (s *Size) Type() string { return "size" }
