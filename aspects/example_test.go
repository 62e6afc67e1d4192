package aspects_test

import (
	"fmt"

	"github.com/cpprof/cpprof/aspects"
)

// An aspect is a named set of functions.
func Example() {
	queue, err := aspects.New("queue", "main.(*queue).*", "!main.(*queue).len")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(queue.Name(), queue.Has("main.(*queue).push"), queue.Has("main.(*queue).len"))
	// Output: @queue true false
}
