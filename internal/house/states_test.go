package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// statesTable is the only file, of all that read recordings,
// that knows run states and wait reasons.
const statesTable = "views/doing.go"

// makers write recordings, or stand beside cpprof: they set
// states, or compare them with another source.
var makers = []string{"sampledata/", "sampler/", "internal/synthetic/", "internal/bench/", "testdata/"}

// otherWords are wait reasons that are words of something else in a file.
var otherWords = map[string][]string{"cmd/cpprof/shell/shell.go": {"select"}, "why/activity.go": {"sleep"}}

// TestOneTableOfStates demands that views.Doing is asked what a
// goroutine does. No other code names a run state, compares the
// text of a wait reason, or cuts one.
func TestOneTableOfStates(t *testing.T) {
	reasons := tableReasons(t, "../../"+statesTable, "reasons")
	if len(reasons) < 30 {
		t.Fatalf("%s has only %d wait reasons", statesTable, len(reasons))
	}
	everyFile(t, func(path string, set *token.FileSet, file *ast.File) {
		maker := slices.ContainsFunc(makers, func(room string) bool { return strings.HasPrefix(path, room) })
		if path == statesTable || strings.HasSuffix(path, "_test.go") || maker {
			return
		}
		for _, found := range statesIn(file, func(text string) bool {
			return reasons[text] && !slices.Contains(otherWords[path], text)
		}) {
			t.Errorf("%s: %s: ask views.DoingOf", set.Position(found.at), found.what)
		}
	})
}

// Each reason that the sampler knows is in the table.
func TestTableHasAllReasons(t *testing.T) {
	known := tableReasons(t, "../../"+statesTable, "reasons")
	for _, list := range []string{"waitReasons", "otherReasons"} {
		for text := range tableReasons(t, "../../sampler/target/goruntime/waitreason.go", list) {
			if !known[text] {
				t.Errorf("%s does not have the wait reason %q", statesTable, text)
			}
		}
	}
}

func TestStatesIn(t *testing.T) {
	for source, want := range map[string]int{
		`switch run.Run { case sampledata.Blocked: }`:       1,
		`_ = run.Run == sampledata.Unknown`:                 1,
		`_ = run.Reason == "chan send"`:                     1,
		`switch f.Reason { case "IO wait", "chan send": }`:  2,
		`_ = strings.HasPrefix(run.Reason, "chan ")`:        1,
		`_ = run.Reason == "" && sampledata.NoStack == at`:  0,
		`_ = views.DoingOf(run) == views.AwaitingLock`:      0,
		`var reasons = []string{"sync.Cond.Wait", "other"}`: 1,
	} {
		file := fixture.Must(parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+source+"\n}", 0))(t)
		reasons := []string{"chan send", "IO wait", "sync.Cond.Wait"}
		if got := statesIn(file, func(text string) bool { return slices.Contains(reasons, text) }); len(got) != want {
			t.Errorf("%s: %v, want %d", source, got, want)
		}
	}
}

// A stateUse is a place that knows a run state or a wait reason.
type stateUse struct {
	at   token.Pos
	what string
}

// statesIn finds run states and wait reasons in a file.
func statesIn(file *ast.File, isReason func(string) bool) (found []stateUse) {
	states := []string{"Unknown", "Running", "Detached", "Runnable", "Waiting", "Blocked"}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "sampledata" && slices.Contains(states, n.Sel.Name) {
				found = append(found, stateUse{n.Pos(), "sampledata." + n.Sel.Name})
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
				x, isPackage := f.X.(*ast.Ident)
				arg, ok := n.Args[0].(*ast.SelectorExpr)
				if isPackage && ok && x.Name == "strings" && arg.Sel.Name == "Reason" {
					found = append(found, stateUse{n.Pos(), "strings." + f.Sel.Name + " of a reason"})
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && text != "" && isReason(text) {
				found = append(found, stateUse{n.Pos(), n.Value})
			}
		}
		return true
	})
	return found
}

// tableReasons returns the strings of a table: the keys of a
// map, or the elements of a list.
func tableReasons(t *testing.T, path, table string) map[string]bool {
	t.Helper()
	file := fixture.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
	all := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Names[0].Name != table {
			return true
		}
		for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Key
			}
			if lit, ok := e.(*ast.BasicLit); ok {
				text := fixture.Must(strconv.Unquote(lit.Value))(t)
				all[text] = true
			}
		}
		return false
	})
	return all
}
