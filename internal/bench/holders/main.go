// Holders measures how much the code of a program says about the locks that
// its goroutines hold:
//
//	go run ./internal/bench/holders [-functions REGEXP] [-worst N] BINARY...
//
// It counts the calls during which a lock may be held, by whether it is
// sure that it is, and if not, why. A goroutine that stands in a call of
// the first kind is found as the holder.
//
// It also measures how often the holders that are found are right, on
// programs that know who holds their locks:
//
//	go run ./internal/bench/holders zoo [-samples N] [-interval DURATION] [-still] [PROGRAM...]
//
// With -still, it stops the programs while it compares: a slow machine
// needs that.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/holders/lockcode"
	"github.com/cpprof/cpprof/internal/termtext"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "zoo" {
		mainOfZoo(os.Args[2:])
		return
	}
	functions := flag.String("functions", "", "count only the calls of functions whose names match this expression, and list those that are not sure")
	worst := flag.Int("worst", 25, "how many functions to list, those with the most calls that are not sure first")
	flag.Parse()
	if err := run(os.Stdout, *functions, *worst, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "holders:", termtext.Error(err))
		os.Exit(1)
	}
}

// mainOfZoo runs the second form of the command. It ends with status 1 if a
// holder was wrong.
func mainOfZoo(args []string) {
	flags := flag.NewFlagSet("holders zoo", flag.ExitOnError)
	samples := flags.Int("samples", 100_000, "how many goroutines that wait to compare, summed over the samples")
	interval := flags.Duration("interval", 5*time.Millisecond, "between samples")
	still := flags.Bool("still", false, "stop the program while a sample is compared")
	flags.Parse(args)
	good, err := zoo(os.Stdout, *samples, *interval, *still, flags.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "holders:", termtext.Error(err))
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

func run(out io.Writer, functions string, worst int, paths []string) error {
	if len(paths) == 0 {
		return errors.New("which program? Name its executable file")
	}
	var match func(string) bool
	if functions != "" {
		re, err := regexp.Compile(functions)
		if err != nil {
			return fmt.Errorf("-functions: %w", err)
		}
		match = re.MatchString
	}
	for _, path := range paths {
		c, err := lockcode.Take(path, match)
		if err != nil {
			return err
		}
		print(out, path, c, worst, match != nil)
	}
	return nil
}

// print writes a census as text. With lines, it lists the calls that are
// not sure.
func print(out io.Writer, path string, c *lockcode.Census, worst int, lines bool) {
	termtext.Fprintf(out, "%s (%s)\n", path, c.Go)
	termtext.Fprintf(out, "%8d calls during which a lock may be held\n", c.Calls)
	termtext.Fprintf(out, "%8d %5.1f %% sure\n", c.Sure, share(c.Sure, c.Calls))
	for _, r := range c.Unsure {
		termtext.Fprintf(out, "%8d %5.1f %% %s\n", r.Calls, share(r.Calls, c.Calls), r.Text)
	}
	sure := c.SureEverywhere()
	termtext.Fprintf(out, "%8d functions with such calls, %d (%.1f %%) sure everywhere\n", len(c.Functions), sure, share(sure, len(c.Functions)))
	for _, f := range c.Worst(worst) {
		termtext.Fprintf(out, "%8d of %4d not sure: %s (%s)\n", len(f.Unsure), f.Calls, f.Name, mainReason(f.Unsure))
		if !lines {
			continue
		}
		for _, u := range f.Unsure {
			termtext.Fprintf(out, "%16s line %d: %s\n", "", u.Line, u.Reason)
		}
	}
}

func share(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// mainReason returns the most frequent reasons, at most two.
func mainReason(calls []lockcode.UnsureCall) string {
	counts := map[string]int{}
	for _, u := range calls {
		counts[u.Reason]++
	}
	var texts []string
	for len(counts) > 0 && len(texts) < 2 {
		best := ""
		for r, n := range counts {
			if n > counts[best] || n == counts[best] && r < best {
				best = r
			}
		}
		texts = append(texts, fmt.Sprintf("%d: %s", counts[best], best))
		delete(counts, best)
	}
	return strings.Join(texts, ", ")
}
