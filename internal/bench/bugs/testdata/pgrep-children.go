package main

import (
	"os/exec"
	"time"

	"github.com/shirou/gopsutil/v3/process"
)

// A supervisor looks at the children of a worker.
func main() {
	worker := exec.Command("sh", "-c", "cat | cat")
	var err error
	alive, err = worker.StdinPipe()
	check(err)
	check(worker.Start())
	work(2, 10*time.Millisecond, func() { watch(worker.Process.Pid) })
}

func watch(pid int) {
	p, err := process.NewProcess(int32(pid))
	check(err)
	_, err = p.Children()
	check(err)
}
