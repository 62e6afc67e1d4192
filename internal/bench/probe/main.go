// Probe measures what a probe costs a program that calls the probed function a million times a second: how soon it is taken out,
// and how fast the program is over some seconds with and without it. With -load, other processes want the processors meanwhile.
//
//	go run ./internal/bench/probe [-d 10s] [-load 40] [-rounds 3]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampler/probe"
)

func main() {
	length := flag.Duration("d", 10*time.Second, "how long the program runs with the probe, and without")
	load := flag.Int("load", 0, "how many other processes compute meanwhile")
	rounds := flag.Int("rounds", 1, "how often it is measured")
	burn := flag.Bool("burn", false, "only compute, for -d")
	flag.Parse()
	if *burn {
		for end := time.Now().Add(*length); time.Now().Before(end); {
		}
		return
	}
	for range *rounds {
		if err := measure(*length, *load); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func measure(length time.Duration, load int) error {
	dir, err := os.MkdirTemp("", "cpprof-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "probed")
	if text, err := exec.Command("go", "build", "-o", program, "./testdata/programs/probed").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	cmd := exec.Command(program, "fast")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	fmt.Fprintln(in)
	lines := bufio.NewReader(out)
	for range 2 { // its pid, and the calls of the first second
		if _, err := lines.ReadString('\n'); err != nil {
			return err
		}
	}
	for range load {
		burner := exec.Command(os.Args[0], "-burn", "-d", (2*length + 5*time.Second).String())
		if err := burner.Start(); err != nil {
			return err
		}
		defer burner.Wait()
		defer burner.Process.Kill()
	}
	without, err := callsIn(lines, length)
	if err != nil {
		return err
	}
	p, err := probe.OpenPID(cmd.Process.Pid)
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
	with, err := callsIn(lines, length)
	if err != nil {
		return err
	}
	r := set.Results()[0]
	fmt.Printf("load %d: the probe was in for %v, %d calls, cost %v; %.0f calls a second without it, %.0f with it: %.1f %%\n",
		load, (r.To - r.From).Round(time.Millisecond), r.Calls, r.Cost.Round(time.Microsecond), without, with, 100*with/without)
	fmt.Println(r.Note)
	return set.Close()
}

// callsIn returns the calls per second that the program makes, as it prints them.
func callsIn(lines *bufio.Reader, length time.Duration) (float64, error) {
	began, first, last := time.Now(), -1.0, 0.0
	var since time.Time
	for time.Since(began) < length || last == first {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0, err
		}
		last, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(line, "calls")), 64)
		if err != nil {
			return 0, err
		}
		if first < 0 {
			first, since = last, time.Now()
		}
	}
	return (last - first) / time.Since(since).Seconds(), nil
}
