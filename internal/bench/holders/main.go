//go:build linux && (amd64 || arm64)

// Holders measures how often the holders that are found are
// right, on programs that know who holds their locks:
//
//	go run ./internal/bench/holders zoo [-samples N] [-interval DURATION] [-still] [PROGRAM...]
//
// With -still, it stops the programs while it compares: a slow
// machine needs that. It ends with status 1 if a holder was
// wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/bench/holders/holdertest"
	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/internal/termtext"
)

var (
	flags    = flag.NewFlagSet("holders zoo", flag.ExitOnError)
	samples  = flags.Int("samples", 100_000, "how many goroutines that wait to compare, summed over the samples")
	interval = flags.Duration("interval", 5*time.Millisecond, "between samples")
	still    = flags.Bool("still", false, "stop the program while a sample is compared")
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "zoo" {
		flags.Usage()
		os.Exit(2)
	}
	flags.Parse(os.Args[2:])
	tool.Main("holders", zoo)
}

// runs are programs that say who holds their locks, with arguments.
var runs = [][]string{{"holders"}, {"holders", "-hidden=false"}, {"limits"}, {"limits", fooling}}

// fooling asks for code that is made to be misread.
const fooling = "fooling"

// zoo samples these programs until it has compared enough
// waiters with what the programs say, and prints the scores. It
// reports whether nobody was blamed wrongly, but by code that is
// made to be misread. Without names, it samples all programs.
func zoo() (good bool, err error) {
	dir, err := os.MkdirTemp("", "cpprof-holders-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	good = true
	for _, args := range runs {
		name, misread := args[0], slices.Contains(args, fooling)
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), name) {
			continue
		}
		path := filepath.Join(dir, name)
		if err := tool.Go("", nil, "build", "-o", path, "github.com/cpprof/cpprof/testdata/programs/"+name); err != nil {
			return false, err
		}
		scores, mistakes, err := judge(exec.Command(path, args[1:]...), misread)
		if err != nil {
			return false, fmt.Errorf("sampling %s: %w", name, err)
		}
		for _, m := range mistakes {
			termtext.Fprintf(os.Stdout, "wrong: %s\n", m)
		}
		fmt.Printf("%s\n%s", strings.Join(args, " "), scores.Table())
		good = good && (len(mistakes) == 0 || misread)
	}
	return good, nil
}

// judge samples one program. At once means that the first
// samples count, too.
func judge(cmd *exec.Cmd, atOnce bool) (scores holdertest.Scores, mistakes []string, err error) {
	cmd.Stderr = os.Stderr
	program, line, err := tool.Ready(cmd)
	if err != nil {
		return nil, nil, err
	}
	defer program.End()
	table, err := holdertest.Open(cmd.Process.Pid, line)
	if err != nil {
		return nil, nil, err
	}
	defer table.Close()
	p, b, err := tool.Attach(cmd.Process.Pid)
	if err != nil {
		return nil, nil, err
	}
	defer p.Release()
	defer b.Close()
	var around func(take func() error) error
	if *still {
		around = func(take func() error) error { return stopped(cmd.Process, take) }
	}
	return holdertest.Judge(context.Background(), b, table, holdertest.Options{
		Interval: *interval, AtOnce: atOnce, Around: around,
		Enough: func(s holdertest.Scores) bool {
			sum := s.Sum()
			return sum.Contended() >= *samples/len(runs)
		},
	})
}

// stopped calls a function while a process is stopped.
func stopped(p *os.Process, take func() error) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(5 * time.Millisecond) // until its threads have stopped
	return errors.Join(take(), p.Signal(syscall.SIGCONT))
}
