package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// maxShown is the greatest number of bytes of a text that are read for drawing. A name can have a million, and every key
// redraws it.
const maxShown = 8 << 10

// printable returns a text, or the beginning of a very long one, in a form that is safe for the screen.
func printable(s string) string {
	if len(s) <= maxShown {
		return termtext.Printable(s)
	}
	end := maxShown
	for end > maxShown-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return termtext.Printable(s[:end]) + ellipsis
}

// shorten makes a name fit a width: first it cuts the middle of the package path, because its ends say most. If that is
// not enough, it cuts the end of the name.
func shorten(name string, width int) string {
	name = printable(name)
	if fits(name, width) {
		return name
	}
	prefix, path, rest := splitPackage(name)
	if elements := strings.Split(path, "/"); len(elements) > 1 {
		last := elements[len(elements)-1]
		// Each element takes a column for its slash, at least.
		for kept := min(len(elements)-2, max(width, 0)); kept >= 0; kept-- {
			short := prefix + strings.Join(append(elements[:kept:kept], ellipsis, last), "/") + rest
			if fits(short, width) {
				return short
			}
		}
		name = prefix + ellipsis + "/" + last + rest
	}
	return cut(name, width)
}

// splitPackage splits a name into the part before its package path ("go:", ".."), the path with the name of its last
// element, and the rest: "..", "example.com/shop/db", ".(*Pool).Get".
func splitPackage(name string) (prefix, path, rest string) {
	path = name
	for _, p := range []string{"..", `"`, "go:"} {
		if cut, ok := strings.CutPrefix(path, p); ok {
			prefix, path = prefix+p, cut
		}
	}
	end := len(path)
	if i := strings.IndexAny(path, "([ {"); i >= 0 {
		end = i // type arguments and receivers have paths of their own
	}
	slash := strings.LastIndexByte(path[:end], '/')
	if dot := strings.IndexByte(path[slash+1:end], '.'); dot >= 0 {
		end = slash + 1 + dot
	}
	return prefix, path[:end], path[end:]
}

// cut makes printable text fit a width by cutting its end.
func cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if fits(s, width) {
		return s
	}
	head, _ := splitAt(s, width-1)
	return head + ellipsis
}

// fits reports whether printable text takes no more than a width.
func fits(s string, width int) bool {
	_, rest := splitAt(s, width)
	return rest == ""
}

// splitAt splits printable text at a width.
func splitAt(s string, width int) (head, rest string) {
	state := -1
	for rest = s; rest != ""; {
		_, next, w, nextState := uniseg.FirstGraphemeClusterInString(rest, state)
		if width -= w; width < 0 {
			break
		}
		rest, state = next, nextState
	}
	return s[:len(s)-len(rest)], rest
}

// wrap splits text into printable lines of a width, at blanks if possible.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = printable(line)
		for width > 1 && !fits(line, width) {
			head, rest := splitAt(line, width)
			if i := strings.LastIndexByte(head, ' '); i > len(head)/2 && rest[0] != ' ' {
				head, rest = head[:i], line[i:]
			}
			lines = append(lines, head)
			line = strings.TrimLeft(rest, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
