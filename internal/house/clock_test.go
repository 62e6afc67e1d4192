package house

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// dated are the files that take the date into a name. Nothing
// else may depend on it: the clock on the wall can jump.
var dated = map[string]bool{"internal/agent/store.go": true}

// ofWallClock reports whether a call takes from time.Now what
// the clock on the wall says, without the monotonic reading.
func ofWallClock(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	loses := strings.HasPrefix(f.Sel.Name, "Unix") || f.Sel.Name == "Round" || f.Sel.Name == "Truncate" || f.Sel.Name == "UTC"
	now, ok := f.X.(*ast.CallExpr)
	if !loses || !ok {
		return false
	}
	of, ok := now.Fun.(*ast.SelectorExpr)
	if !ok || of.Sel.Name != "Now" {
		return false
	}
	pkg, ok := of.X.(*ast.Ident)
	return ok && pkg.Name == "time"
}

// Times are measured by the monotonic clock, whatever the date is.
func TestTheDateIsALabel(t *testing.T) {
	everyFile(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/bench/") || dated[path] {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && ofWallClock(call) {
				t.Errorf("%s: the clock on the wall, which can jump: want time.Since of an earlier time.Now", set.Position(call.Pos()))
			}
			return true
		})
	})
}
