// Fsync writes to files in the folder that its argument names, and waits for the disk each time. So its threads are often in
// the kernel, where they can't be interrupted. It prints a line, and then a dot for each hundred writes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

func main() {
	fmt.Println("ready")
	var writes atomic.Int64
	for i := range 4 {
		f, err := os.Create(filepath.Join(os.Args[1], fmt.Sprint(i)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go write(f, &writes)
	}
	select {}
}

func write(f *os.File, writes *atomic.Int64) {
	block := make([]byte, 4096)
	for {
		if _, err := f.WriteAt(block, 0); err != nil {
			panic(err)
		}
		if err := f.Sync(); err != nil {
			panic(err)
		}
		if writes.Add(1)%100 == 0 {
			os.Stdout.WriteString(".")
		}
	}
}
