package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Every character that the Analyzer or a report may draw by
// itself has one in ASCII, of the same width.
func TestEveryCharacterHasOneInASCII(t *testing.T) {
	for _, folder := range []string{"tui", "internal/report", "views", "views/locks", "internal/words", "internal/termtext"} {
		files, err := filepath.Glob(filepath.Join(fixture.Root(), folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := fixture.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text := fixture.Must(strconv.Unquote(literal.Value))(t)
				for _, r := range text {
					if ascii, ok := asciiOf[r]; r > 0x7f && r != utf8.RuneError && (!ok || len(ascii) != 1 || textWidth(string(r)) != 1) {
						t.Errorf("%s: %q has no character in ASCII", name, r)
					}
				}
				return true
			})
		}
	}
}
