package refine_test

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// A session begins with the root of a view, and refines it.
func ExampleSession() {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.Add(0, b.Stack("main.main", "main.load"), 75, 1)
	b.Add(0, b.Stack("main.main", "main.serve"), 25, 1)
	tree, err := b.Tree()
	if err != nil {
		fmt.Println(err)
	}
	s := refine.NewSession(tree, nil)
	for _, path := range []string{"*", "* main.main"} {
		if err := s.Apply(refine.Step{Kind: refine.KindDown, Text: path}); err != nil {
			fmt.Println(err)
		}
	}
	s.Walk(func(e *refine.Entry, depth int) {
		fmt.Println(s.Cost(e).FloatString(2) + strings.Repeat("  ", depth+1) + e.Label())
	})
	// Output:
	// 1.00  *
	// 1.00    main.main
	// 0.75      main.load
	// 0.25      main.serve
}
