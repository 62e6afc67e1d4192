// Processes runs one process after another, and waits for each.
package main

import (
	"fmt"
	"os/exec"
)

func main() {
	fmt.Println("ready")
	for {
		exec.Command("sleep", "0.05").Run()
	}
}
