package aspects

import (
	"fmt"
	"net/url"
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
// import path: "yaml%2ev3" is "yaml.v3". A name with a "%" that
// begins no escape stays as it is: no linker wrote it. What a
// generic name has in brackets is not escaped.
func plain(name string) string {
	path, types := name, ""
	if i := strings.IndexByte(name, '['); i >= 0 {
		path, types = name[:i], name[i:]
	}
	if unescaped, err := url.PathUnescape(path); err == nil {
		return unescaped + types
	}
	return name
}

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
