package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/monitor"
)

// inTurns samples a running program in some turns and not in
// others, and reads its monitors at the ends of turns.
func (f *perturbFlags) inTurns(ctx context.Context, t terminal) (*report.Perturbation, error) {
	pid, err := f.process.find()
	if err != nil {
		return nil, err
	}
	p, b, err := attachTo(t, pid, f.backend, anyProgram)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	defer b.Close()
	borders := unresolved{sampledata.NewBuilder(b.Header())}
	set, err := monitor.Open(monitor.Target{PID: p.PID, Binary: b.Binary()},
		always(f.options.Monitors))
	if err != nil {
		return nil, err
	}
	defer set.Close()
	set.Define(borders)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var sampled atomic.Bool
	sampled.Store(true)
	o := f.options
	o.Rest = func() bool { return !sampled.Load() }
	ended := make(chan error, 1)
	go func() {
		_, err := sampler.Record(ctx, p, b, sampledata.NewBuilder(b.Header()), o)
		ended <- err
	}()
	with, err := f.takeTurns(ctx, t, ended, func(on bool) { sampled.Store(on) }, func() error {
		err := set.Measure(borders)
		return errors.Join(err,
			borders.Sample(sampledata.Sample{Time: time.Since(b.Header().Start)}, nil))
	})
	if err != nil {
		return nil, err
	}
	stop()
	if err := <-ended; err != nil {
		return nil, err
	}
	r := &report.Perturbation{
		What: fmt.Sprintf("process %d while it is sampled and while it is not", p.PID),
		Runs: fmt.Sprintf("%d turns of %v each", f.runs, f.turn),
	}
	r.Effects, err = f.effects(borders.Recording(), with)
	return r, err
}

// takeTurns alternates sampling, and reads at the end of each
// turn. The first turn, in which the sampler learns the program,
// does not count. It returns in which turns the program was
// sampled.
func (f *perturbFlags) takeTurns(ctx context.Context, t terminal, ended <-chan error,
	sample func(on bool), read func() error) (with []bool, err error) {
	for range f.runs {
		on := rand.IntN(2) == 0
		with = append(with, on, !on)
	}
	for turn := -1; turn < len(with); turn++ {
		sample(turn < 0 || with[turn])
		if turn >= 0 && turn%2 == 0 {
			tell(t.err, "turns %d and %d of %d", turn+1, turn+2, len(with))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("interrupted after %d of %d turns", max(turn, 0), len(with))
		case err := <-ended:
			return nil, errors.Join(errors.New("the program ended before the last turn: take fewer (-n) or shorter ones (--duration)"), err)
		case <-time.After(f.turn):
		}
		if err := read(); err != nil {
			return nil, err
		}
	}
	return with, nil
}

// effects returns what each metric was in the turns with and
// without sampling: first the metrics of --progress, then all
// monitors.
func (f *perturbFlags) effects(r *sampledata.Recording, with []bool) ([]metrics.Effect, error) {
	table := metrics.New(r, metrics.Options{})
	exprs := slices.Clone(f.progress)
	for _, e := range exprs {
		if _, err := table.Numbers(e); err != nil {
			return nil, &usageError{fmt.Errorf("--progress: %w", err)}
		}
	}
	for _, m := range table.Monitors() {
		if isMeasured := m.Layer != sampledata.Sampled && m.Kind != sampledata.Nominal &&
			m.Unmeasured == ""; isMeasured && !slices.Contains(exprs, m.Shown()) {
			exprs = append(exprs, m.Shown())
		}
	}
	var list []metrics.Effect
	for _, expr := range exprs {
		m, err := table.Numbers(expr)
		if err != nil {
			return nil, err
		}
		e := metrics.Effect{Name: expr, Unit: m.Unit.String()}
		for turn, on := range with {
			if x := m.Column[turn+1]; on {
				e.With = append(e.With, x)
			} else {
				e.Without = append(e.Without, x)
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// unresolved defines monitors that are read whenever they are asked for.
type unresolved struct{ *sampledata.Builder }

func (u unresolved) Monitor(m sampledata.Monitor) sampledata.MonitorID {
	m.Resolution = ""
	return u.Builder.Monitor(m)
}

// always returns sources that are read whenever they are asked for.
func always(sources []monitor.Source) []monitor.Source {
	sources = slices.Clone(sources)
	for i := range sources {
		sources[i].Every = 0
	}
	return sources
}
