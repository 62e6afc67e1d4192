package views_test

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
)

// The Server View is the processors' time; a Thread View is all time of a class.
func ExampleServer() {
	r, err := interchange.ReadRecording("../cmd/cpprof/testdata/bob.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := views.Server(r, views.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := server.Tree.Main()
	fmt.Println(m.Cost(m.Cum(0)).FloatString(3))
	classes, err := views.Classes(r, views.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range classes {
		fmt.Println(c.Class, c.Goroutines, c.IdleShare().FloatString(3))
	}
	// Output:
	// 0.333
	// go:bob.(*terminal).run 5 0.000
	// go:main.main 1 0.000
	// go:runtime.gcBgMarkWorker 1 0.000
}
