//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/why/stuck"
)

// start runs a program until it says that it is ready.
func start(cmd *exec.Cmd) (*tool.Program, error) {
	p, err := tool.Start(cmd)
	if err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	go func() {
		for {
			line, err := p.Out.ReadString('\n')
			if err != nil || strings.EqualFold(line, "ready\n") || strings.HasPrefix(line, "=== RUN") {
				ready <- err
				return
			}
		}
	}()
	select {
	case err = <-ready:
	case <-time.After(30 * time.Second):
		err = errors.New("it does not become ready")
	}
	if err != nil {
		p.End()
		return nil, err
	}
	return p, nil
}

// rest lets the program print its goroutines and end, and
// returns what it prints.
func rest(p *tool.Program) (string, error) {
	defer p.End()
	if _, err := p.In.Write([]byte("x")); err != nil {
		return "", err
	}
	text := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(p.Out)
		text <- string(b)
	}()
	select {
	case s := <-text:
		return s, nil
	case <-time.After(60 * time.Second):
		return "", errors.New("it does not print its goroutines")
	}
}

// Bounds of settle.
const (
	quiet       = 300 * time.Millisecond // without CPU time
	leastSettle = time.Second            // some sleep in between
	mostSettle  = 10 * time.Second       // some never rest
)

// settle waits until a program uses no more CPU time: its
// goroutines are stuck, or wait for timers.
func settle(pid int) {
	begin := time.Now()
	used, since := time.Duration(-1), begin
	for time.Since(begin) < mostSettle && (time.Since(since) < quiet || time.Since(begin) < leastSettle) {
		if now := sampler.ProcessorTimeOf(pid); now != used {
			used, since = now, time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

const (
	gap    = 400 * time.Millisecond // between two passes
	sample = 50 * time.Millisecond  // between two samples meanwhile
)

// usual are the limits of an examination.
var usual = heap.Config{MaxHalt: 500 * time.Millisecond}

// examine examines a process: with passes first and samples
// between them, or only with the halt.
func examine(pid int, limits heap.Config, passes int, gap time.Duration) (*heap.Result, *stuck.Answer, error) {
	p, b, err := tool.Attach(pid)
	if err != nil {
		return nil, nil, err
	}
	defer p.Release()
	defer b.Close()
	x, err := b.Examine(limits)
	if err != nil {
		return nil, nil, err
	}
	r := sampledata.NewBuilder(b.Header()).Recording()
	for i := range passes {
		if i > 0 {
			if r, err = record(b, gap); err != nil {
				return nil, nil, err
			}
		}
		if err := x.Pass(context.Background()); err != nil {
			return nil, nil, err
		}
		if x.Suspects() == 0 {
			return answer(r, x.Result(nil))
		}
	}
	err = x.Prove(context.Background())
	var limit *heap.LimitError
	if err != nil && !errors.As(err, &limit) {
		return nil, nil, err
	}
	return answer(r, x.Result(limit))
}

// answer says what a result means.
func answer(r *sampledata.Recording, h *heap.Result) (*heap.Result, *stuck.Answer, error) {
	r.Marking = h.Marking(0)
	return h, stuck.Find(r), nil
}

// record records a process between two passes: samples tell who holds locks.
func record(b sampler.Backend, gap time.Duration) (*sampledata.Recording, error) {
	header := b.Header()
	to := sampledata.NewBuilder(header)
	for begin := time.Now(); time.Since(begin) < gap; time.Sleep(sample) {
		b.MayLearn(gap)
		if _, err := b.Observe(context.Background(), to, sampledata.Sample{Time: time.Since(header.Start)}); err != nil {
			return nil, err
		}
	}
	b.Settle(to)
	return to.Recording(), nil
}

// A dumped is a goroutine in what a program prints.
type dumped struct {
	id     int64
	state  string
	leaked bool // by the runtime's profile
	named  bool // by goleak
	text   string
	bottom string // its first function, as the runtime's test has it
}

var (
	header   = regexp.MustCompile(`^goroutine (\d+).*? \[([^\],]*)`)
	byGoleak = regexp.MustCompile(`\bGoroutine (\d+) in state `)
)

// goroutines reads what a program prints.
func goroutines(text string) (all []dumped) {
	text, goleak, _ := strings.Cut(text, "\n\nGOLEAK ")
	named := map[string]bool{}
	for _, m := range byGoleak.FindAllStringSubmatch(goleak, -1) {
		named[m[1]] = true
	}
	for _, part := range strings.Split(text, "\n\n") {
		m := header.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		id, _ := strconv.ParseInt(m[1], 10, 64)
		d := dumped{id: id, text: part, state: strings.TrimSuffix(m[2], " (leaked)"), leaked: strings.Contains(m[2], "(leaked)"), named: named[m[1]]}
		lines := strings.Split(part, "\n")
		for i := len(lines) - 1; i >= 2; i-- {
			if strings.HasPrefix(lines[i], "created by") {
				d.bottom = strings.TrimPrefix(lines[i-2], "main.") + fmt.Sprintf(" [%s]", d.state)
			}
		}
		all = append(all, d)
	}
	return all
}
