package callpath_test

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// The cost of a call path is the share of the stacks that satisfy it.
func Example() {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.Add(0, b.Stack("main.main", "main.load", "main.decode"), 3, 1)
	b.Add(0, b.Stack("main.main", "main.serve", "main.decode"), 1, 1)
	tree, err := b.Tree()
	if err != nil {
		fmt.Println(err)
	}
	for _, text := range []string{"* ..main.decode", "* ..main.load main.decode"} {
		path, err := callpath.Parse(text)
		if err != nil {
			fmt.Println(err)
		}
		total := callpath.Total(tree, nil, path)
		fmt.Println(path, tree.Main().Cost(total.Weight).FloatString(2))
	}
	// Output:
	// * ..main.decode 1.00
	// * ..main.load main.decode 0.75
}
