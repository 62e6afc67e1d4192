package aspects

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 100

// CheckName returns an aspect's name with its "@", or an error
// if it is not valid: it consists of letters and digits and, not
// at its ends, "_", "-" and "/".
func CheckName(name string) (string, error) {
	bare := strings.TrimPrefix(name, "@")
	if bare == "" {
		return "", fmt.Errorf("aspect %q has no name", name)
	}
	if len(bare) > maxName {
		return "", fmt.Errorf("aspect %q...: the name is longer than %d bytes", name[:20], maxName)
	}
	for i, r := range bare {
		word := r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
		if !word && (i == 0 || !strings.ContainsRune("_-/", r)) {
			return "", fmt.Errorf(
				"aspect %q: a name has letters and digits, and within it _ - /, but not %q",
				name, r)
		}
	}
	return "@" + bare, nil
}

// plain undoes the linker's escapes in the last element of an
// import path: "yaml%2ev3" is "yaml.v3".
func plain(name string) string {
	if !strings.Contains(name, "%") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			hi, lo := hexDigit(name[i+1]), hexDigit(name[i+2])
			if hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// withoutLine removes ":42" from the end of a name.
func withoutLine(name string) string {
	i := len(name)
	for i > 0 && '0' <= name[i-1] && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || i < 2 || name[i-1] != ':' {
		return name
	}
	return name[:i-1]
}
