package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// printers are the packages that write to the terminal. They
// print through internal/termtext, which makes arguments safe.
var printers = []string{"cmd/cpprof/", "report/", "tui/"}

// notToTheTerminal are files of these packages that write elsewhere.
var notToTheTerminal = []string{"cmd/cpprof/orderdesk"}

// drawing are the methods of a screen that write to it.
var drawing = []string{"Put", "PutStr", "PutStrStyled", "SetCell", "SetContent"}

// goesAround reports what a call is that prints to the terminal
// without making its arguments safe, "" if it is none.
func goesAround(path string, call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	of, _ := f.X.(*ast.Ident)
	switch name := f.Sel.Name; {
	case of != nil && of.Name == "fmt" && (strings.HasPrefix(name, "Fprint") || strings.HasPrefix(name, "Print")):
		return "fmt." + name
	case of != nil && of.Name == "termtext" && strings.HasSuffix(name, "printf") && !startsWithLiteral(call, name):
		return "termtext." + name + " with a format that is not written there"
	case of != nil && of.Name == "termtext" && strings.HasSuffix(name, "println") && hasNewline(call):
		return "termtext." + name + ", which escapes the newline in an argument"
	case slices.Contains(drawing, name) && path != "tui/canvas.go":
		return name + " outside of the canvas"
	}
	return ""
}

// hasNewline reports whether an argument of a call is a literal
// with a newline in it.
func hasNewline(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		literal, ok := arg.(*ast.BasicLit)
		return ok && strings.Contains(literal.Value, `\n`)
	})
}

// startsWithLiteral reports whether the format of a call is a
// literal, or begins with one.
func startsWithLiteral(call *ast.CallExpr, name string) bool {
	at := 0
	if strings.HasPrefix(name, "F") {
		at = 1
	}
	if len(call.Args) <= at {
		return false
	}
	format := call.Args[at]
	for {
		sum, ok := format.(*ast.BinaryExpr)
		if !ok {
			break
		}
		format = sum.X
	}
	_, ok := format.(*ast.BasicLit)
	return ok
}

// isPrinter reports whether a file belongs to a package that
// writes to the terminal, and to what of it does.
func isPrinter(path string) bool {
	in := func(prefixes []string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(path, p) {
				return true
			}
		}
		return false
	}
	return in(printers) && !in(notToTheTerminal) && !strings.HasSuffix(path, "_test.go")
}

// What is printed goes through one place, where names can't do
// anything to a terminal.
func TestPrintsAreSafe(t *testing.T) {
	everyFile(t, func(path string, set *token.FileSet, file *ast.File) {
		if !isPrinter(path) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if what := goesAround(path, call); what != "" {
					t.Errorf("%v: %s: print with termtext.Fprintf", set.Position(n.Pos()), what)
				}
			}
			return true
		})
	})
}
