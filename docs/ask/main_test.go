package main

import "os"

// The recording is the one of docs/worked-example.md.
func Example() {
	os.Args = []string{"ask", "../../cmd/cpprof/testdata/demo.txt"}
	main()
	// Output:
	// main.(*journal).mu: 7.95 goroutines waited on average
	//   go:main.flusher held it 1.00 of that time
}
