// Brief: one goroutine computes and one sleeps, for two seconds. It ignores its arguments.
package main

import (
	"fmt"
	"time"
)

var sum int

func compute() {
	for {
		sum++
	}
}

func main() {
	fmt.Println("ready")
	go compute()
	time.Sleep(2 * time.Second)
}
