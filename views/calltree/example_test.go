package calltree_test

import (
	"fmt"

	"github.com/cpprof/cpprof/views/calltree"
)

// A builder counts stacks. The tree has the weight of each call and of all below it.
func Example() {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.Add(0, b.Stack("main.main", "main.load"), 3, 1)
	b.Add(0, b.Stack("main.main"), 1, 1)
	tree, err := b.Tree()
	if err != nil {
		fmt.Println(err)
	}
	for n := range int32(tree.Len()) {
		fmt.Println(tree.Frames(n), tree.Main().Cum(n).RatString(), tree.Main().Own(n).RatString())
	}
	// Output:
	// [*] 4 0
	// [* main.main] 4 1
	// [* main.main main.load] 3 3
}
