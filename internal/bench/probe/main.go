// Probe measures what a probe costs a program that calls the
// probed function a million times a second: how soon it is taken
// out, and how fast the program is over some seconds with it,
// and before and after. With
// -busy, the program computes between the calls, so that whatever it loses
// makes it slower. With -load, other processes want the processors
// meanwhile.
//
//	go run ./internal/bench/probe [-d 10s] [-busy] [-load 40] [-rounds 3]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampler/probe"
)

func main() {
	length := flag.Duration("d", 10*time.Second, "how long the program runs with the probe, and how long before and after it without")
	load := flag.Int("load", 0, "how many other processes compute meanwhile")
	rounds := flag.Int("rounds", 1, "how often it is measured")
	busy := flag.Bool("busy", false, "the program computes between the calls, instead of sleeping")
	burn := flag.Bool("burn", false, "only compute, for -d")
	flag.Parse()
	if *burn {
		for end := time.Now().Add(*length); time.Now().Before(end); {
		}
		return
	}
	does := "fast"
	if *busy {
		does = "busy"
	}
	for range *rounds {
		if err := measure(does, *length, *load); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// measure measures a program that does what the name says
// (testdata/programs/probed).
func measure(does string, length time.Duration, load int) error {
	dir, err := tool.Build("testdata/programs/probed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := tool.Start(exec.Command(filepath.Join(dir, "probed"), does))
	if err != nil {
		return err
	}
	defer program.End()
	fmt.Fprintln(program.In)
	for range 2 { // its pid, and the calls of the first second
		if _, err := program.Out.ReadString('\n'); err != nil {
			return err
		}
	}
	for range load {
		burner := exec.Command(os.Args[0], "-burn", "-d", (3*length + 5*time.Second).String())
		if err := burner.Start(); err != nil {
			return err
		}
		defer burner.Wait()
		defer burner.Process.Kill()
	}
	before, err := callsIn(program.Out, length)
	if err != nil {
		return err
	}
	p, err := probe.OpenPID(program.Process.Pid)
	if err != nil {
		return err
	}
	f, err := p.Function("main.tick")
	if err != nil {
		return err
	}
	began := time.Now()
	set, err := probe.Start(p, []probe.Function{f}, probe.Options{MaxOverhead: 0.01, Clock: func() time.Duration { return time.Since(began) }})
	if err != nil {
		return err
	}
	with, err := callsIn(program.Out, length)
	if err != nil {
		return err
	}
	r := set.Results()[0]
	if err := set.Close(); err != nil {
		return err
	}
	after, err := callsIn(program.Out, length)
	if err != nil {
		return err
	}
	fmt.Printf("load %d: the probe was in for %v, %d calls, cost %v\n", load, (r.To - r.From).Round(time.Millisecond), r.Calls, r.Cost.Round(time.Microsecond))
	without := rates{(before.bySecond + after.bySecond) / 2, (before.byCPU + after.byCPU) / 2}
	fmt.Printf("calls a second before, with it, after: %.0f, %.0f, %.0f: %.1f %%; a second of CPU time %.0f, %.0f, %.0f: %.1f %%\n",
		before.bySecond, with.bySecond, after.bySecond, 100*with.bySecond/without.bySecond,
		before.byCPU, with.byCPU, after.byCPU, 100*with.byCPU/without.byCPU)
	fmt.Println(r.Note)
	return nil
}

// rates are how many calls a program makes in a second, and in a
// second of its CPU time.
type rates struct{ bySecond, byCPU float64 }

// callsIn returns the rates over at least the given time, by
// what the program prints.
func callsIn(lines *bufio.Reader, length time.Duration) (rates, error) {
	var first, last progress
	for last.since-first.since < length || last.since == 0 {
		line, err := lines.ReadString('\n')
		if err != nil {
			return rates{}, err
		}
		if _, err := fmt.Sscanf(line, "calls %d %d %d", &last.calls, &last.since, &last.cpu); err != nil {
			return rates{}, fmt.Errorf("the program printed %q: %w", line, err)
		}
		if first.since == 0 {
			first = last
		}
	}
	calls := float64(last.calls - first.calls)
	return rates{calls / (last.since - first.since).Seconds(), calls / (last.cpu - first.cpu).Seconds()}, nil
}

// progress is what the program has done so far.
type progress struct {
	calls      int
	since, cpu time.Duration
}
