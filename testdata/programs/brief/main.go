// Brief: one goroutine computes now and then and one sleeps, for two seconds. It ignores its arguments.
package main

import (
	"fmt"
	"time"
)

var sum int

func compute() {
	for {
		for range 1_000_000 {
			sum++
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func main() {
	fmt.Println("ready")
	go compute()
	time.Sleep(2 * time.Second)
}
