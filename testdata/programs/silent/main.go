// Silent has a goroutine whose labels lie in a page that never answers a read. Its argument says why: "userfaultfd" watches the
// page, or the page belongs to a file of a file system that is a program ("fuse"). The program's arguments lie there as well, if
// that is permitted. The first line of the output is the address of the page. Then the program writes a dot every 10 ms, which
// shows that it runs. If the machine refuses such a page, the program says so and ends.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/cpprof/cpprof/testdata/programs/silent/page"
)

func main() {
	at, err := page.New(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Printf("refused: %v\n", err)
		return
	}
	go func() {
		page.Label(at)
		select {}
	}()
	time.Sleep(10 * time.Millisecond)
	fmt.Printf("%#x, arguments moved: %v\n", at, page.MoveArguments(at))
	for range time.Tick(10 * time.Millisecond) {
		os.Stdout.WriteString(".")
	}
}
