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
	if len(os.Args) < 2 || twins[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "give one of", slices.Sorted(maps.Keys(twins)))
		os.Exit(2)
	}
	twins[os.Args[1]]()
	fmt.Println("ready")
	select {}
}
