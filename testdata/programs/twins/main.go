// Twins are healthy programs of the kinds that often get stuck. The first argument names one. It
// works until it is killed, and nothing in it is stuck for good.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
)

// twins start their goroutines, and return.
var twins = map[string]func(){
	"workers": workers, "tickers": tickers, "errgroup": group, "pipeline": pipeline,
	"conditions": conditions, "readers": readers, "contexts": contexts, "server": server,
	"pool": pool, "finalizers": finalizers, "weak": weakPointers, "unique": handles,
}

func main() {
	start := func() {}
	if len(os.Args) > 1 {
		start = twins[os.Args[1]]
	}
	if len(os.Args) < 2 || start == nil {
		fmt.Fprintln(os.Stderr, "give one of", slices.Sorted(maps.Keys(twins)))
		os.Exit(2)
	}
	start()
	fmt.Println("ready")
	select {}
}
