package sampler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/monitor"
)

// The settings of a recording where nothing else is asked for.
const (
	DefaultRate        = 20   // samples a second
	DefaultJitter      = 1    // uniform over the interval
	DefaultMaxOverhead = 0.01 // of wall time
	DefaultMaxCPU      = 0.05 // of one core
)

// yieldShare is what a sampler that yields uses of a machine whose processors are all busy: what it takes, the target may
// miss.
const yieldShare = 0.01

// Options say how to record.
type Options struct {
	Rate        float64       // samples a second, an upper bound; 0: DefaultRate
	Jitter      float64       // share of the interval by which a tick moves at random, 0 to 1
	MaxOverhead float64       // bound on the share of time that the target stands still; 0: none
	MaxCPU      float64       // bound on the sampler's own processor time for its samples, in cores; 0: none
	Duration    time.Duration // of the recording; 0: until something else ends it

	// Yield makes MaxCPU less where the machine is busy: to what is idle, and 1 % of its processors beside that.
	Yield bool

	// Monitors are read beside each sample, outside the halt.
	Monitors []monitor.Source

	// Clock gives the time since the header's start; nil: real time.
	Clock func() time.Duration

	// Progress, where not nil, is called after every sample, and should be quick.
	Progress func(Progress)
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	switch {
	case !(o.Rate >= 0) || o.Rate > 1e6:
		return fmt.Errorf("rate %v is not between 0 and 1000000 samples a second", o.Rate)
	case !(o.Jitter >= 0 && o.Jitter <= 1):
		return fmt.Errorf("jitter %v is not between 0 (periodic) and 1 (anywhere in the interval)", o.Jitter)
	case !(o.MaxOverhead >= 0 && o.MaxOverhead <= 1):
		return fmt.Errorf("overhead %v is not between 0 (no bound) and 1 (100%%)", o.MaxOverhead)
	case !(o.MaxCPU >= 0) || math.IsInf(o.MaxCPU, 1):
		return fmt.Errorf("processor time of %v cores makes no sense", o.MaxCPU)
	case o.Duration < 0:
		return fmt.Errorf("a duration of %v makes no sense", o.Duration)
	}
	return nil
}

// Settings are the options as a recording's header holds them.
func (o Options) Settings(version, backend string) sampledata.Settings {
	return sampledata.Settings{
		Version: version, Backend: backend,
		RateHz: o.withDefaults().Rate, Jitter: o.Jitter, MaxOverhead: o.MaxOverhead, MaxCPU: o.MaxCPU,
	}
}

func (o Options) withDefaults() Options {
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	return o
}

// Progress is how far a recording has come.
type Progress struct {
	Elapsed    time.Duration
	Samples    int64
	Goroutines int           // at the last sample
	Missed     int64         // ticks without a sample
	Lost       int64         // samples that failed
	Halted     time.Duration // in all
	LastHalt   time.Duration
}

// HaltedShare is the part of the time that the target stood still.
func (p Progress) HaltedShare() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Halted) / float64(p.Elapsed)
}

// Rate is the number of samples a second that was achieved.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Samples) / p.Elapsed.Seconds()
}

// Result is what became of a recording.
type Result struct {
	Progress
	End   sampledata.End
	Bound Bound
}

// maxFailures is how many samples in a row may fail before a recording gives up.
const maxFailures = 20

// Record takes samples of a target through a backend until the context is cancelled (an interruption), the duration is
// over, the target ends, or nothing works any more, and finishes the recording in the sink in each case. The error is
// nil where the recording is complete, however it ended; the backend and the process are the caller's to close.
func Record(ctx context.Context, p *Process, b Backend, sink sampledata.Sink, o Options) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, fmt.Errorf("recording: %w", err)
	}
	o = o.withDefaults()
	if o.Clock == nil {
		start := b.Header().Start
		o.Clock = func() time.Duration { return time.Since(start) }
	}
	r := &recorder{
		process: p, backend: b, o: o, pace: newPacer(o), cpu: processorTime(), idle: newIdleMeter(o.Clock()),
		live: map[sampledata.GoroutineID]struct{}{},
	}
	r.sink = sampledata.AfterSample(sink, r.handedOver)
	r.monitors = monitor.Open(monitor.Target{PID: p.PID}, o.Monitors, r.sink)
	defer r.monitors.Close()
	end, err := r.loop(ctx)
	r.done.Elapsed = max(o.Clock(), 0)
	if err != nil {
		end = sampledata.End{Cause: sampledata.EndFailed, Detail: err.Error()}
	}
	r.account(&end)
	if ferr := sink.Finish(end); err == nil && ferr != nil {
		err = fmt.Errorf("finishing the recording: %w", ferr)
	}
	return Result{Progress: r.done, End: end, Bound: r.pace.bound(r.done.Elapsed, r.done.Samples)}, err
}

// account completes the end of a recording by what was spent and missed since the last sample, its own cost included.
func (r *recorder) account(end *sampledata.End) {
	end.Time = r.done.Elapsed
	end.Missed = int32(min(r.missed+r.pace.unused(end.Time), math.MaxInt32))
	end.SamplerCPU = max(0, processorTime()-r.cpu)
	end.LostHalt = r.lostHalt
	r.done.Missed += int64(end.Missed)
}

// A recorder is one run of Record.
type recorder struct {
	process  *Process
	backend  Backend
	sink     sampledata.Sink
	live     map[sampledata.GoroutineID]struct{} // goroutines, after the last sample
	sinkErr  error                               // of the sink's last sample, which is not the backend's
	monitors *monitor.Set
	o        Options
	pace     *pacer
	cpu      time.Duration // of this process, at the sample before
	idle     idleMeter
	failed   int // samples in a row
	done     Progress

	// Not yet reported in a sample.
	missed   int64
	lostHalt time.Duration
}

// loop waits for tick after tick.
func (r *recorder) loop(ctx context.Context) (sampledata.End, error) {
	for {
		at, missed := r.pace.next(r.o.Clock())
		over := r.o.Duration > 0 && at >= r.o.Duration
		if over {
			at = r.o.Duration
		}
		timer := time.NewTimer(at - r.o.Clock())
		select {
		case <-ctx.Done():
			timer.Stop()
			return sampledata.End{Cause: sampledata.EndInterrupted}, nil
		case <-r.process.Done():
			timer.Stop()
			return r.process.End(), nil
		case <-timer.C:
		}
		if over {
			return sampledata.End{Cause: sampledata.EndDuration}, nil
		}
		r.pace.use()
		r.missed += missed
		r.yield()
		end, err := r.sample(ctx)
		if end != nil || err != nil {
			if end == nil {
				end = &sampledata.End{}
			}
			return *end, err
		}
	}
}

// yield leaves the processors to the target where it needs them.
func (r *recorder) yield() {
	if !r.o.Yield || r.o.MaxCPU == 0 {
		return
	}
	now := r.o.Clock()
	if idle, ok := r.idle.look(now); ok {
		r.pace.cpu.change(yielded(r.o.MaxCPU, runtime.NumCPU(), idle), now)
	}
}

// yielded is the bound on processor time, in cores, where so many of a machine's processors are idle.
func yielded(most float64, processors int, idle float64) float64 {
	return min(most, yieldShare*float64(processors)+idle)
}

// sample takes one. An end means that the recording is over; an error that it has failed.
func (r *recorder) sample(ctx context.Context) (*sampledata.End, error) {
	cpu, learned := processorTime(), r.backend.Learned()
	s := sampledata.Sample{
		Time:       r.o.Clock(),
		Missed:     int32(min(r.missed, math.MaxInt32)),
		SamplerCPU: cpu - r.cpu,
		LostHalt:   r.lostHalt,
	}
	unread := r.monitors.Measure(r.sink)
	s, err := r.backend.Observe(ctx, r.sink, s)
	r.pace.charge(s.Halt, processorTime()-cpu-(r.backend.Learned()-learned))
	r.done.Halted += s.Halt
	r.done.LastHalt = s.Halt
	var ended *EndedError
	switch {
	case errors.As(err, &ended):
		return r.ending(ended.End), nil
	case err != nil && r.sinkErr != nil:
		return nil, fmt.Errorf("recording: %w", r.sinkErr)
	case err != nil && ctx.Err() != nil:
		return nil, nil
	case err != nil:
		r.sink.Warn("lost-sample", err.Error(), 1)
		r.done.Lost++
		r.missed++
		r.lostHalt += s.Halt
		if r.failed++; r.failed >= maxFailures {
			return nil, fmt.Errorf("%d samples in a row failed, the last: %w", r.failed, err)
		}
		return nil, nil
	}
	if unread != nil {
		r.sink.Warn("unread-monitor", unread.Error(), 1)
	}
	r.cpu, r.failed, r.missed, r.lostHalt = cpu, 0, 0, 0
	r.done.Samples++
	r.done.Missed += int64(s.Missed)
	r.done.Elapsed = r.o.Clock()
	r.done.Goroutines = len(r.live)
	if r.o.Progress != nil {
		r.o.Progress(r.done)
	}
	return nil, nil
}

// ending prefers what the process itself says of its end: a backend that finds a target gone may not know the status.
func (r *recorder) ending(end sampledata.End) *sampledata.End {
	if end.Cause == sampledata.EndExec {
		return &end
	}
	select {
	case <-r.process.Done():
		end = r.process.End()
	case <-time.After(2 * time.Second):
	}
	return &end
}

// handedOver notes what became of the sample that the backend has handed to the sink.
func (r *recorder) handedOver(_ sampledata.Sample, changes []sampledata.Change, err error) {
	for _, c := range changes {
		if c.Gone {
			delete(r.live, c.Goroutine)
		} else {
			r.live[c.Goroutine] = struct{}{}
		}
	}
	r.sinkErr = err
}
