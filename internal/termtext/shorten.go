package termtext

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// closure is the end of the name of a function without a name,
// which tells it from others in the same function.
var closure = regexp.MustCompile(`(\.(func|gowrap)[0-9.]+)+$`)

// Shorten makes a name fit a width: first it cuts the middle of
// the package path, as ShortenPath does. If that is not enough,
// it cuts the end of the name, but not the end of a closure's
// name. The name must be printable. Example, from wide to
// narrow:
//
//	example.com/shop/server.(*Server).accept.func1
//	…/server.(*Server).accept.func1
//	…/server.(*Serv….func1
func Shorten(name string, width int) string {
	short := ShortenPath(name, width)
	if end := closure.FindString(short); !Fits(short, width) && width > 2*len(end) {
		return Cut(strings.TrimSuffix(short, end), width-len(end)) + end
	}
	return Cut(short, width)
}

// ShortenPath cuts as much of the middle of the package path in
// a name as is needed to make the name fit a width: the ends of
// a path say most. The result may be wider if the rest of the
// name is. The name must be printable.
func ShortenPath(name string, width int) string {
	if Fits(name, width) {
		return name
	}
	if name = FoldStructs(name); Fits(name, width) {
		return name
	}
	prefix, path, rest := splitPackage(name)
	elements := strings.Split(path, "/")
	if len(elements) < 2 {
		return name
	}
	last := elements[len(elements)-1]
	// Each element takes a column for its slash, at least.
	for kept := min(len(elements)-2, max(width, 0)); kept >= 0; kept-- {
		short := prefix + strings.Join(append(elements[:kept:kept], ellipsis, last), "/") + rest
		if Fits(short, width) {
			return short
		}
	}
	return prefix + ellipsis + "/" + last + rest
}

// shapeHash matches the number that stands for a type argument.
var shapeHash = regexp.MustCompile(`\bgo\.shape\.[0-9a-f]{32,}`)

// FoldStructs leaves out the fields of the struct types among
// type arguments in a text, go.shape.struct{…}, and the numbers that
// stand for such types.
func FoldStructs(text string) string {
	text = shapeHash.ReplaceAllString(text, "go.shape."+ellipsis)
	var b strings.Builder
	depth := 0
	for i, r := range text {
		switch {
		case r == '{' && depth == 0 && !strings.HasPrefix(text[i:], "{}") &&
			strings.HasSuffix(strings.TrimRight(text[:i], " "), "struct"):
			b.WriteString("{" + ellipsis)
			depth++
			continue
		case depth > 0 && r == '{':
			depth++
		case depth > 0 && r == '}':
			depth--
		}
		if depth == 0 {
			b.WriteRune(r)
		}
	}
	if depth > 0 {
		return text // it was cut before
	}
	return b.String()
}

// ShortenPaths shortens the package paths of the names in a text
// until the text fits a width, beginning with the first names.
// The result may be wider if the rest of the text is. The text
// must be printable.
func ShortenPaths(text string, width int) string {
	if !Fits(text, width) {
		text = FoldStructs(text)
	}
	names := strings.Split(text, " ")
	for i, name := range names {
		excess := uniseg.StringWidth(text) - width
		if excess <= 0 {
			break
		}
		names[i] = ShortenPath(name, uniseg.StringWidth(name)-excess)
		text = strings.Join(names, " ")
	}
	return text
}

// splitPackage splits a name into the part before its package
// path ("go:", ".."), the path with the name of its last
// element, and the rest: "..", "example.com/shop/db",
// ".(*Pool).Get".
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

// Cut makes printable text fit a width by cutting its end.
func Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Fits(s, width) {
		return s
	}
	head, _ := SplitAt(s, width-1)
	return head + ellipsis
}

// Fits reports whether printable text takes no more than a width.
func Fits(s string, width int) bool {
	_, rest := SplitAt(s, width)
	return rest == ""
}

// SplitAt splits printable text at a width.
func SplitAt(s string, width int) (head, rest string) {
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
