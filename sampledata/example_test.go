package sampledata_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A builder makes a recording. It can be written as text, and read again.
func ExampleBuilder() {
	b := sampledata.NewBuilder(sampledata.Header{
		Executable: "/srv/shop", OS: "linux", Arch: "amd64", GOMAXPROCS: 1, Start: time.Unix(0, 0),
		Sampler: sampledata.Settings{Version: "1", Backend: "snapshot"},
	})
	main := b.Function(sampledata.Function{Name: "main.main", File: "/src/main.go"})
	stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: main, Line: 7})
	g := b.Goroutine(sampledata.Goroutine{ID: 1, Start: main})
	runs := sampledata.Change{Goroutine: g, State: sampledata.State{Run: sampledata.Running, Stack: stack}}
	first := sampledata.Sample{Time: time.Millisecond, Processors: []sampledata.GoroutineID{g}}
	if err := b.Sample(first, []sampledata.Change{runs}); err != nil {
		fmt.Println(err)
	}
	if err := b.Finish(sampledata.End{Time: 2 * time.Millisecond}); err != nil {
		fmt.Println(err)
	}
	var text strings.Builder
	if err := sampledata.WriteText(&text, b.Recording()); err != nil {
		fmt.Println(err)
	}
	r, err := sampledata.ReadText(strings.NewReader(text.String()))
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(r.Samples.Len(), r.Functions[main].Name)
	// Output: 1 main.main
}
