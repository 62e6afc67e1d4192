package hotspots_test

import (
	"fmt"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views/calltree"
)

// Find names the few call sequences that have most of the cost.
func ExampleFind() {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.Add(0, b.Stack("main.main", "main.load", "main.decode"), 17, 1)
	b.Add(0, b.Stack("main.main", "main.serve"), 3, 1)
	tree, err := b.Tree()
	if err != nil {
		fmt.Println(err)
	}
	for _, found := range hotspots.Find(hotspots.NewSingle(tree), hotspots.FindOptions{}).Bottlenecks {
		fmt.Println(found.Summary.Path(), found.Own.FloatString(2))
	}
	// Output: [* main.main main.load main.decode] 0.85
}
