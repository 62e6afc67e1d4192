//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// runs are programs that say who holds their locks, with arguments.
var runs = [][]string{{"holders"}, {"holders", "-hidden=false"}, {"limits"}, {fooling}}

// fooling is the program that is made to be misread.
const fooling = "fooling"

// zoo samples these programs until it has compared enough
// waiters with what the programs say, and prints the scores. It
// reports whether nobody was blamed wrongly, but by code that is
// made to be misread. Without names, it samples all programs.
func zoo(out io.Writer, waiters int, interval time.Duration, still bool, names []string) (good bool, err error) {
	dir, err := os.MkdirTemp("", "cpprof-holders-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	good = true
	for _, args := range runs {
		name := args[0]
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		path := filepath.Join(dir, name)
		if text, err := exec.Command("go", "build", "-o", path, "github.com/cpprof/cpprof/testdata/programs/"+name).CombinedOutput(); err != nil {
			return false, fmt.Errorf("building %s: %w\n%s", name, err, text)
		}
		scores, mistakes, err := judge(exec.Command(path, args[1:]...), waiters/len(runs), interval, still, name == fooling)
		if err != nil {
			return false, fmt.Errorf("sampling %s: %w", name, err)
		}
		for _, m := range mistakes {
			termtext.Fprintf(out, "wrong: %s\n", m)
		}
		termtext.Fprintf(out, "%s\n", strings.Join(args, " "))
		good = good && (len(mistakes) == 0 || name == fooling)
		if err := scores.Write(out, holdertest.Unproven); err != nil {
			return false, err
		}
	}
	return good, nil
}

// judge samples one program. At once means that the first
// samples count, too.
func judge(cmd *exec.Cmd, waiters int, interval time.Duration, still, atOnce bool) (scores holdertest.Scores, mistakes []string, err error) {
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
	if still {
		around = func(take func() error) error { return stopped(cmd.Process, take) }
	}
	return holdertest.Judge(context.Background(), b, table, holdertest.Options{
		Interval: interval, AtOnce: atOnce, Around: around,
		Enough: func(s holdertest.Scores) bool {
			sum := s.Sum()
			return sum.Contended() >= waiters
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
