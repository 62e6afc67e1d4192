package main

import (
	"fmt"
	"os"
	"syscall"

	"example.com/waiter/until"
)

func main() {
	fmt.Println("ready")
	until.Exists(os.Args[1])
	if len(os.Args) == 2 {
		os.Exit(5)
	}
	self, _ := os.Executable()
	fmt.Println(syscall.Exec(self, append([]string{self}, os.Args[2:]...), os.Environ()))
}
