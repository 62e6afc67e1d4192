package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/cpprof/cpprof/internal/agent"
	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// Keeping the last seconds of a program takes a process of its
// own, as a recording does.
const (
	keeperBase  = 48 << 20 // bytes of the process itself
	keeperLeast = 16 << 20 // for what it keeps
	mostKeepers = 256
)

// checkKept checks the flags that say what is kept. Profiles and
// keeping get half of the processor time each.
func (f *agentFlags) checkKept(c *cobra.Command) error {
	if err := f.kept.check(c, 0); err != nil {
		return err
	}
	switch {
	case !f.kept.on() && c.Flags().Changed("output"):
		return errors.New("--output goes with --keep, such as --keep 60s")
	case !f.kept.on():
		return nil
	case f.kept.memory < keeperBase+keeperLeast:
		return fmt.Errorf("--max-memory %v: want at least %v, for one program", f.kept.memory,
			memory.Size(keeperBase+keeperLeast))
	}
	f.options.MaxCPU /= 2
	return nil
}

// keeping says how the agent keeps the last seconds of programs.
func (f *agentFlags) keeping(t terminal) (*agent.Keeping, error) {
	space := int64(f.kept.memory)
	store, err := agent.OpenStore(f.folder, f.kept.times, space)
	if err != nil {
		return nil, err
	}
	return &agent.Keeping{
		Store: store, Most: int(min(space/(keeperBase+keeperLeast), mostKeepers)),
		MaxCPU: f.options.MaxCPU, Used: helpers.used,
		Keep: func(ctx context.Context, p *sampler.Process, orders <-chan agent.Order,
			kept func(string, agent.Kept, error)) error {
			return keepApart(ctx, t, p, orders, kept)
		},
		Told: func(text string) { tell(t.err, "%s", text) },
	}, nil
}

// A keptAnswer is what a process that keeps writes for each recording.
type keptAnswer struct {
	Path    string // of the recording
	Kept    agent.Kept
	Changed bool   // the process id is another program's now
	Error   string // why there is no recording; without a reason: why it ended
}

// keepApart keeps the last seconds of a process, in another one.
func keepApart(ctx context.Context, t terminal, p *sampler.Process,
	orders <-chan agent.Order, kept func(string, agent.Kept, error)) error {
	c, in, out, err := startApart(t, recordingTask{PID: p.PID,
		Program: fmt.Sprint(p.Identity()), Keep: true})
	if err != nil {
		return err
	}
	defer in.Close()
	ended, over := make(chan error, 1), make(chan struct{})
	go func() {
		failed := readKept(json.NewDecoder(out), kept)
		_ = out.Close()
		if err := helpers.wait(c); failed == nil {
			failed = err
		}
		close(over)
		ended <- failed
	}()
	go func() {
		to := json.NewEncoder(in)
		for {
			select {
			case <-over:
				return
			case o := <-orders:
				_ = to.Encode(o) // after an error, the process has ended
			}
		}
	}()
	return awaitEnd(ctx, ended, in, c.Process)
}

// readKept reads the answers of a process that keeps. It returns
// why that ended, or nil if the program did.
func readKept(from *json.Decoder, kept func(string, agent.Kept, error)) error {
	for {
		var a keptAnswer
		if from.Decode(&a) != nil {
			return nil // what follows from the end is known by the exit status
		}
		var err error
		if a.Error != "" {
			err = errors.New(a.Error)
		}
		switch {
		case a.Changed:
			return agent.ErrChanged
		case a.Kept.Reason == "":
			return err
		}
		kept(a.Path, a.Kept, err)
	}
}

// keepTask keeps the last seconds of a program for the agent. It
// ends when the program or the agent does.
func (f *agentFlags) keepTask(ctx context.Context, stop func(), t terminal, signals *signals,
	task recordingTask, answers *json.Encoder) error {
	defer f.kept.watch(func(string) {})() // the agent has the signal, too, and asks
	var programs atomic.Int64
	programs.Store(1)
	share := func() int64 {
		each := int64(f.kept.memory) / programs.Load()
		debug.SetMemoryLimit(each)
		return max(each-keeperBase, keeperLeast)
	}
	o := f.options
	o.NowCPU = func() float64 { return f.options.MaxCPU / float64(programs.Load()) }
	err := f.recordInto(ctx, t, signals, task, o,
		func(p *sampler.Process, h sampledata.Header) sampledata.Sink {
			k := live.Keep(h, live.KeepOptions{
				Ring:  sampledata.RingOptions{Keep: f.kept.span, Memory: share()},
				Pause: f.kept.span, When: f.kept.parsed, Metrics: f.kept.metrics,
				Skip: func(e *sampledata.End) bool { return e.Cause == sampledata.EndInterrupted },
				Write: func(kept *sampledata.Kept, e sampledata.End) (string, error) {
					path := agent.NewPath(f.folder, task.PID)
					return path, (&outputs{}).write(path, kept, e)
				},
				Told: func(one live.Keeping) { _ = answers.Encode(answerOf(one)) },
				Full: func() {},
			})
			go func() {
				defer stop()
				orders := json.NewDecoder(t.in)
				for {
					var o agent.Order
					if orders.Decode(&o) != nil {
						return
					}
					programs.Store(int64(max(o.Programs, 1)))
					k.Allow(share())
					if o.Ask != "" {
						k.Ask(o.Ask)
					}
				}
			}()
			return k
		})
	if err != nil {
		return answers.Encode(keptAnswer{Changed: errors.Is(err, agent.ErrChanged),
			Error: err.Error()})
	}
	return nil
}

func answerOf(one live.Keeping) keptAnswer {
	a := keptAnswer{Path: one.Name, Kept: agent.Kept{
		Reason: one.Reason, At: time.Now(), Seconds: one.Length.Seconds(), Short: one.Short,
		End: one.Last,
	}}
	if one.Err != nil {
		a.Error = one.Err.Error()
	}
	return a
}
