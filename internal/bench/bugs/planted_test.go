//go:build linux

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Each planted cause is there, and each planted program has one.
func TestPlantedCauses(t *testing.T) {
	const folder = "../../../" + plantedFolder
	text := fixture.Must(os.ReadFile(filepath.Join(folder, "main.go")))(t)
	if !strings.Contains(string(text), plantedEnd) {
		t.Errorf("main.go does not wait with %s", plantedEnd)
	}
	for _, m := range regexp.MustCompile(`"(\w+)": +\w+[,}]`).FindAllStringSubmatch(string(text), -1) {
		if name := m[1]; plantedCauses[name] == nil && name != "phase" { // it reads its input
			t.Errorf("%s has no causes", name)
		}
	}
	has := declared(t, folder)
	for name, causes := range plantedCauses {
		for _, c := range causes {
			if !has[c] {
				t.Errorf("%s: there is no %s", name, c)
			}
		}
	}
}

// declared returns the functions of a program, and the fields of
// its structs.
func declared(t *testing.T, folder string) map[string]bool {
	files := fixture.Must(filepath.Glob(folder + "/*.go"))(t)
	has := make(map[string]bool)
	for _, path := range files {
		file := fixture.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				has["main."+receiver(n)+n.Name.Name] = true
			case *ast.TypeSpec:
				s, ok := n.Type.(*ast.StructType)
				if !ok {
					break
				}
				for _, field := range s.Fields.List {
					for _, name := range field.Names {
						has["main.(*"+n.Name.Name+")."+name.Name] = true
					}
				}
			}
			return true
		})
	}
	return has
}

// receiver returns the part of a method's name that its type gives.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return ""
	}
	return "(*" + star.X.(*ast.Ident).Name + ")."
}
