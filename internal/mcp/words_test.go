package mcp

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
)

func TestInTools(t *testing.T) {
	for message, want := range map[string]string{
		"x.cpprof already exists: give another name with -o, or replace it with --force":                "x.cpprof already exists: give another name with name",
		"-p shop: no Go program of this name runs\nGo programs that cpprof may halt:\n  -p 12  shop -v": "process shop: no Go program of this name runs\nGo programs that cpprof may halt:\n  process 12  shop -v",
		"no view: add --server or --thread CLASS\nSee 'cpprof report --help'.":                          "no view: add no class or class CLASS",
		"it has no table: build it without -ldflags=-s, or use --backend delve":                         "it has no table: build it without -ldflags=-s",
		"a-b --c-d": "a-b --c-d",
		"/runs/x.cpprof: no class \"x\"; closest: y; 'cpprof classes' lists all":                       "x.cpprof: no class \"x\"; closest: y; the tool classes lists all",
		"3 samples\nnext: cpprof why /runs/x.cpprof":                                                   "3 samples\nnext: the tool why",
		"no permission, or launch the program with cpprof record -- COMMAND":                           "no permission",
		"-p x: no program that cpprof may halt":                                                        "process x: no program that cpprof may halt",
		"no heap. Record it again with 'cpprof record', or give a process ('cpprof stuck -p PROCESS')": "no heap. Record it again with the tool record",
		"attach to 9: no such process: look for the pid with ps or pgrep; inside a container x":        "attach to 9: no such process: list_processes shows those that there are; inside a container x",
		"--without and --against ask different questions: give one of them":                            "without and against ask different questions: give one of them",
		"too short: 'cpprof find' shows what there is":                                                 "too short",
		"--down: unexpected >\n  * >>\n     ^":                                                         "the step down: unexpected >\n  * >>\n     ^",
	} {
		if got := inTools(message, "/runs"); got != want {
			t.Errorf("%q:\n%q, want\n%q", message, got, want)
		}
	}
}

// Each command in an answer of why becomes the call that shows
// the same, if there is one.
func TestSeeInTools(t *testing.T) {
	for finding, want := range map[string]string{
		`{"kind":"compute","measure":{"path":"* ..f"}}`:                     `report {"recording":"a b","steps":[{"how":"extended","path":"* ..f"}]}`,
		`{"kind":"lock","measure":{"thread":"go:w","keep":"* ..:MONITOR"}}`: `report {"recording":"a b","class":"go:w","steps":[{"how":"prune","path":"* ..:MONITOR"}]}`,
		`{"kind":"deadlock"}`: `locks {"recording":"a b"}`,
		`{"kind":"leak"}`:     "",
		`{"kind":"lock","measure":{"keep":"* ..:MONITOR"},"within":{"to":1}}`: "",
	} {
		document := `{"findings":[` + finding + `],"text":[{"try":"\"see\": x","see":"cpprof \"x\" --server"}]}`
		got := fixture.Must(seeInTools([]byte(document), "a b"))(t)
		var of struct{ Text []struct{ Try, See string } }
		if err := json.Unmarshal(got, &of); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if of.Text[0].See != want || of.Text[0].Try != `"see": x` {
			t.Errorf("%s: %+v, want %s", finding, of.Text[0], want)
		}
	}
}

// The list of exact fields is complete: it has each field of a
// report whose type is *big.Rat.
func TestExactFields(t *testing.T) {
	files, err := filepath.Glob("../report/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, name := range files {
		file := fixture.Must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			pointer, ok := field.Type.(*ast.StarExpr)
			if !ok {
				return true
			}
			of, ok := pointer.X.(*ast.SelectorExpr)
			if !ok || of.Sel.Name != "Rat" {
				return true
			}
			key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			if found++; !slices.Contains(exactFields, key) {
				t.Errorf("%s: the field %s is not in exactFields", name, key)
			}
			return true
		})
	}
	for typed := range views.NumTypedTimes {
		if !slices.Contains(exactFields, typed.Name()) {
			t.Errorf("the typed time %s is not in exactFields", typed.Name())
		}
	}
	if found < 10 {
		t.Errorf("only %d fields were found", found)
	}
}
