//go:build unix

// Profile measures how long cpprof takes for a large pprof
// profile, and how much memory, beside go tool pprof: it makes a
// profile of 1,096,416 nodes that is about 34 calls deep, the
// size of the largest tree of the BOTTLENECKS paper, and runs
// both programs on it in turn.
//
//	go run ./internal/bench/profile
//	go run ./internal/bench/profile -shuffle       stacks in random order, as the Go runtime writes them
//	go run ./internal/bench/profile -keep big.pb.gz
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampledata/interchange"
)

var (
	nodes   = flag.Int("nodes", 1_096_416, "the size of the profile's call tree")
	rounds  = flag.Int("rounds", 3, "how often each program is run")
	shuffle = flag.Bool("shuffle", false, "write the stacks in random order")
	keep    = flag.String("keep", "", "keep the profile in this file")
	only    = flag.Bool("write", false, "only write the profile that -keep names")
)

func main() {
	flag.Parse()
	tool.Main("profile", func() (good bool, err error) { return true, run() })
}

func run() error {
	if *only {
		return write(*keep)
	}
	dir, err := tool.Build("cmd/cpprof")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := cmp.Or(*keep, filepath.Join(dir, "big.pb.gz"))
	// Another process writes it: what this one has allocated
	// would count as the memory of the programs that it starts.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	writer := exec.Command(self, "-write", "-keep", path, fmt.Sprint("-nodes=", *nodes), fmt.Sprint("-shuffle=", *shuffle))
	if err := tool.Run(writer); err != nil {
		return err
	}
	programs := [][]string{{filepath.Join(dir, "cpprof"), "report", path}, {"go", "tool", "pprof", "-top", path}}
	var least [2]usage
	for round := range *rounds {
		for i, program := range programs {
			u, err := measure(program)
			if err != nil {
				return err
			}
			fmt.Printf("%-14s %6.2f s  %6.2f s of CPU  %4d MB\n", filepath.Base(program[0])+" "+program[len(program)-2], u.wall.Seconds(), u.cpu.Seconds(), u.memory>>20)
			if round == 0 || u.wall < least[i].wall {
				least[i] = u
			}
		}
	}
	a, b := least[0], least[1]
	fmt.Printf("least: cpprof takes %.2f of the time, %.2f of the CPU time and %.2f of the memory of go tool pprof\n",
		a.wall.Seconds()/b.wall.Seconds(), a.cpu.Seconds()/b.cpu.Seconds(), float64(a.memory)/float64(b.memory))
	return nil
}

func write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	recording, err := interchange.Profile(bigtree.New(*nodes, 5_000))
	if err != nil {
		return err
	}
	p, err := interchange.PprofOf(recording)
	if err != nil {
		return err
	}
	if *shuffle {
		random := rand.New(rand.NewPCG(1, 2))
		random.Shuffle(len(p.Sample), func(i, j int) { p.Sample[i], p.Sample[j] = p.Sample[j], p.Sample[i] })
	}
	if err := p.Write(f); err != nil {
		return err
	}
	return f.Close()
}

type usage struct {
	wall, cpu time.Duration
	memory    int64 // bytes, at most
}

// measure runs a program. Its memory includes the programs that it starts.
func measure(program []string) (usage, error) {
	cmd := exec.Command(program[0], program[1:]...)
	begin := time.Now()
	err := tool.Run(cmd)
	u := usage{wall: time.Since(begin)}
	if err != nil {
		return u, err
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.memory = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	return u, nil
}
