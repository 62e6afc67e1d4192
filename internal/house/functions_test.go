package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// mostLines is the greatest length of a function, tests included.
const mostLines = 80

// A goFile is a file of the module, parsed with its comments.
type goFile struct {
	path string
	set  *token.FileSet
	*ast.File
}

// goFiles parses each Go file of the module that is not generated.
var goFiles = sync.OnceValues(func() (files []goFile, err error) {
	const root = "../.."
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(file) {
			path = filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
			files = append(files, goFile{path, set, file})
		}
		return nil
	})
	return files, err
})

// everyFile calls f for each Go file of the module that is not generated.
func everyFile(t *testing.T, f func(path string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	files := fixture.Must(goFiles())(t)
	if len(files) < 100 {
		t.Fatalf("only %d files found", len(files))
	}
	for _, file := range files {
		f(file.path, file.set, file.File)
	}
}

func TestFunctionsAreShort(t *testing.T) {
	everyFile(t, func(path string, set *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > mostLines {
				t.Errorf("%s: %s has %d lines, more than %d", path, fn.Name.Name, n, mostLines)
			}
		}
	})
}

// readers are the folders that read profiles of other tools.
var readers = []string{"internal/bench/", "sampledata/interchange/"}

// A profile that cpprof made is passed on as a value: nothing
// reads again what was just written.
func TestProfilesAreParsedOnce(t *testing.T) {
	const library = `"github.com/google/pprof/profile"`
	everyFile(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(readers, func(r string) bool { return strings.HasPrefix(path, r) }) {
			return
		}
		for _, i := range file.Imports {
			if i.Path.Value != library {
				continue
			}
			name := "profile"
			if i.Name != nil {
				name = i.Name.Name
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Parse") {
					if of, ok := s.X.(*ast.Ident); ok && of.Name == name {
						t.Errorf("%s: %s.%s", set.Position(s.Pos()), name, s.Sel.Name)
					}
				}
				return true
			})
		}
	})
}
