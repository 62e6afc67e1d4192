package interchange_test

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/sampledata/interchange"
)

// The format of a file is found from its content.
func ExampleStream() {
	folded := strings.NewReader("main.main;main.load 3\nmain.main 1\n")
	in, err := interchange.Stream(folded, "stacks.txt", interchange.Auto)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := in.Recording(interchange.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(r.Functions), r.Profile.Main().Name)
	// Output: 2 samples
}
