package sampler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/monitor"
)

// The settings of a recording that the options don't set.
const (
	DefaultRate        = 20   // samples a second
	DefaultJitter      = 1    // uniform over the interval
	DefaultMaxOverhead = 0.01 // of wall time
	DefaultMaxCPU      = 0.05 // of one core
)

// What a yielding sampler may take from a target when all
// processors are busy, as shares of the machine's processors:
// for more samples than a recording needs, and at most.
const (
	yieldShare = 0.005
	lossShare  = 0.01
)

// Options configure a recording.
type Options struct {
	Rate        float64 // samples a second, at most; 0: DefaultRate
	Jitter      float64 // share of the interval by which a tick moves at random, 0 to 1
	MaxOverhead float64 // maximum share of time that the target is halted; 0: no bound
	// maximum processor time of the sampler, in cores; 0: no
	// bound. Reading the program uses at most half of it
	MaxCPU float64
	// NowCPU, if not nil, returns what MaxCPU is from now on. It
	// is asked before each sample.
	NowCPU   func() float64
	Duration time.Duration // length of the recording; 0: no limit

	// Yield sets two bounds. For samples above Floor, the
	// processor time is at most the idle processors plus half a
	// percent of all processors. For all samples, the target's
	// loss is at most the idle processors plus 1 % of all. In
	// return, MaxCPU gives way to the few samples that an answer
	// needs.
	Yield bool

	// Lasting says that the target has run before, and probably
	// goes on. Then MaxCPU gives way to reading what an answer
	// needs of the program, too.
	Lasting bool

	cpus int // the number of processors; 0: as many as this process may use

	// Monitors are read for each sample, when its halt is over.
	Monitors []monitor.Source

	// Mark, if not nil, is called after the first sample, and
	// then again and again. MarkAgain is the least pause.
	Mark      Marker
	MarkAgain time.Duration

	// Rest, if not nil, is asked before each sample. While it
	// returns true, no samples are taken, and nothing is
	// attached.
	Rest func() bool

	// MeetPeer, if not nil, is called once for each other
	// process that samples the target, too, between two samples.
	MeetPeer func(Peer)

	// Clock returns the time since the header's start; nil: real time.
	Clock func() time.Duration

	// Progress, if not nil, is called after every sample. It
	// should return quickly.
	Progress func(Progress)
}

// Validate returns an error if an option is out of range.
func (o Options) Validate() error {
	switch {
	case !(o.Rate >= 0) || o.Rate > 1e6:
		return fmt.Errorf("rate %v is not between 0 and 1000000 samples a second", o.Rate)
	case !(o.Jitter >= 0 && o.Jitter <= 1):
		return fmt.Errorf("jitter %v is not between 0 (periodic) and 1 (anywhere in the interval)",
			o.Jitter)
	case !(o.MaxOverhead >= 0 && o.MaxOverhead <= 1):
		return fmt.Errorf("overhead %v is not between 0 (no bound) and 1 (100%%)", o.MaxOverhead)
	case !(o.MaxCPU >= 0) || math.IsInf(o.MaxCPU, 1):
		return fmt.Errorf("processor time of %v cores makes no sense", o.MaxCPU)
	case o.Duration < 0:
		return fmt.Errorf("a duration of %v makes no sense", o.Duration)
	}
	return nil
}

// Describe sets the options in a header that a backend returned.
func (o Options) Describe(h *sampledata.Header, version, backend string) {
	s := &h.Sampler
	s.Version, s.Backend = version, backend
	s.RateHz, s.Jitter, s.MaxOverhead, s.MaxCPU = o.withDefaults().Rate, o.Jitter,
		o.MaxOverhead, o.MaxCPU
}

func (o Options) processors() int {
	if o.cpus > 0 {
		return o.cpus
	}
	return runtime.NumCPU()
}

func (o Options) withDefaults() Options {
	o.Rate = cmp.Or(o.Rate, DefaultRate)
	return o
}

// Progress is the state of a recording while it is made.
type Progress struct {
	Elapsed    time.Duration
	Samples    int64
	Goroutines int           // at the last sample
	Unread     int           // stacks that the last sample could not read
	Missed     int64         // ticks without a sample
	Lost       int64         // samples that failed
	Halted     time.Duration // total time that the target was halted
	LastHalt   time.Duration
}

// HaltedShare returns the share of the time that the target was halted.
func (p Progress) HaltedShare() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Halted) / float64(p.Elapsed)
}

// Rate returns the number of samples a second that were taken.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Samples) / p.Elapsed.Seconds()
}

// Result is the outcome of a recording.
type Result struct {
	Progress
	End   sampledata.End
	Bound Bound
}

// maxFailures is how many samples in a row may fail before a
// recording is given up.
const maxFailures = 20

// A Recording is one that is about to begin: its options are
// valid, and its monitors can be measured.
type Recording struct{ recorder }

// Prepare finds out whether a target can be recorded with some
// options, before anything is written. It opens the sources of
// the monitors; if a required one can't be measured, the error
// says so. The caller must call Record or Close, and close the
// backend and release the process.
func Prepare(p *Process, b Backend, o Options) (*Recording, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	o = o.withDefaults()
	if o.Clock == nil {
		start := b.Header().Start
		o.Clock = func() time.Duration { return time.Since(start) }
	}
	r := &Recording{recorder{
		process: p, backend: b, o: o, pace: newPacer(o), cpu: ProcessorTime() - b.Learned(),
		idle: newIdleMeter(o.Clock()),
		live: map[sampledata.GoroutineID]struct{}{},
	}}
	if err := r.openMonitors(); err != nil {
		return nil, err
	}
	r.peers = meetPeers(p)
	return r, nil
}

// Record is Prepare and Recording.Record.
func Record(ctx context.Context, p *Process, b Backend, sink sampledata.Sink,
	o Options) (Result, error) {
	r, err := Prepare(p, b, o)
	if err != nil {
		return Result{}, err
	}
	return r.Record(ctx, sink)
}

// Close closes what Prepare has opened. After Record, it does nothing.
func (r *Recording) Close() error {
	r.peers.close()
	return r.monitors.Close()
}

// Record takes samples through the backend. It ends when the
// context is cancelled (an interruption), the duration is over,
// the target ends, or too many samples in a row fail. In each
// case it finishes the recording in the sink. The error is nil
// if the recording is complete, however it ended. Record is
// called once.
func (r *Recording) Record(ctx context.Context, sink sampledata.Sink) (Result, error) {
	defer r.Close()
	r.sink = sampledata.AfterSample(sink, r.handedOver)
	r.backend.AfterHalt(r.measure)
	r.monitors.Define(r.sink)
	end, err := r.loop(ctx)
	r.done.Elapsed = max(r.o.Clock(), 0)
	r.endMarking(ctx, end)
	if err != nil {
		end = sampledata.End{Cause: sampledata.EndFailed, Detail: err.Error()}
	}
	r.account(&end)
	r.backend.Settle(r.sink) // what that costs is no part of the recording's time
	if ferr := sink.Finish(end); err == nil && ferr != nil {
		err = fmt.Errorf("finishing the recording: %w", ferr)
	}
	return Result{Progress: r.done, End: end, Bound: r.pace.bound(r.done.Elapsed)}, err
}

// account completes the end of a recording: it adds the costs
// and the missed ticks since the last sample, its own cost
// included.
func (r *recorder) account(end *sampledata.End) {
	end.Time = r.done.Elapsed
	end.Missed = int32(min(r.missed+r.pace.unused(end.Time), math.MaxInt32))
	end.SamplerCPU = max(0, ProcessorTime()-r.cpu)
	end.LostHalt = r.lostHalt
	r.done.Missed += int64(end.Missed)
}

// A recorder is one run of Record.
type recorder struct {
	process *Process
	backend Backend
	sink    sampledata.Sink
	live    map[sampledata.GoroutineID]struct{} // the goroutines that exist as of the last sample
	// the sink's error in the last sample, as opposed to the backend's
	sinkErr  error
	monitors *monitor.Set
	peers    *peers
	opening  time.Duration // processor time that opening them took
	unread   error         // why monitors could not be read for the last sample
	o        Options
	pace     *pacer
	cpu      time.Duration // processor time of this process when the last sample began
	idle     idleMeter
	// how long after their ticks the last samples were over; the
	// first of all does not count
	took    [2]time.Duration
	failed  int // number of samples in a row that failed
	marking marking
	resting bool
	sampled bool          // a sample was taken, or has failed
	at      time.Duration // when the last sample was to begin
	late    bool          // its monitors were not read, since that was late
	done    Progress

	// Not yet reported in a sample.
	missed   int64
	lostHalt time.Duration
}

// loop takes a sample at each tick until the recording ends.
func (r *recorder) loop(ctx context.Context) (sampledata.End, error) {
	for {
		r.greetPeers()
		at, missed := r.pace.next(r.o.Clock())
		begin := at - r.backend.Lead()
		over := r.o.Duration > 0 && at+r.likely() >= r.o.Duration
		if over {
			begin = r.o.Duration
		}
		timer := time.NewTimer(begin - r.o.Clock())
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
		if r.o.Rest != nil && r.o.Rest() {
			if err := r.rest(); err != nil {
				return sampledata.End{}, err
			}
			continue
		}
		r.resting = false
		r.pace.use()
		r.missed += missed
		r.yield()
		if end, over, err := r.sample(ctx, at); over || err != nil {
			return end, err
		}
	}
}

// likely returns how long after its tick the next sample will
// probably be over. A sample of very many goroutines can take
// seconds if the machine is busy: one that would end after the
// recording is not begun.
func (r *recorder) likely() time.Duration { return min(r.took[0], r.took[1]) }

// greetPeers reports the processes that sample the target, too, each once.
func (r *recorder) greetPeers() {
	for p, ok := r.peers.next(); ok; p, ok = r.peers.next() {
		r.sink.Warn("other-sampler",
			p.String()+" sampled the program at the same time; the samples of both cost it time", 1)
		if r.o.MeetPeer != nil {
			r.o.MeetPeer(p)
		}
	}
}

// rest detaches from the target, once until the next sample.
func (r *recorder) rest() error {
	if r.resting {
		return nil
	}
	r.resting = true
	return r.backend.Release()
}

// yield adapts the processor time for samples above the floor to
// how busy the machine is.
func (r *recorder) yield() {
	now := r.o.Clock()
	if r.o.NowCPU != nil {
		if most := r.o.NowCPU(); most != r.o.MaxCPU {
			r.o.MaxCPU = most
			r.pace.setCPU(most, now)
		}
	}
	if !r.o.Yield || r.o.MaxCPU == 0 {
		return
	}
	if idle, ok := r.idle.read(now); ok {
		r.pace.yield(r.o, idle, now)
	}
}

// spared returns the bound on processor time above the floor, in
// cores, for a number of idle processors.
func spared(most float64, processors int, idle float64) float64 {
	return min(most, yieldShare*float64(processors)+idle)
}

// bearable returns the bound on what the target loses, in cores, likewise.
func bearable(processors int, idle float64) float64 { return lossShare*float64(processors) + idle }

// sample takes one sample, with a halt at a given time. It
// reports whether the recording is over, and how it has ended.
// The error says that it has failed.
func (r *recorder) sample(ctx context.Context, at time.Duration) (
	end sampledata.End, over bool, err error) {
	r.takeMarking()
	r.backend.MayLearn(r.pace.mayLearn(r.o.Clock()) - r.opening)
	cpu, learned := ProcessorTime(), r.backend.Learned()
	r.at = at
	s := sampledata.Sample{
		Time:       at,
		Missed:     int32(min(r.missed, math.MaxInt32)),
		SamplerCPU: cpu - r.cpu,
		LostHalt:   r.lostHalt,
	}
	until := ctx
	if r.o.Duration > 0 {
		var stop func()
		until, stop = context.WithTimeout(ctx, r.o.Duration-r.o.Clock())
		defer stop()
	}
	s, err = r.backend.Observe(until, r.sink, s)
	r.pace.charge(s.Halt, ProcessorTime()-cpu-(r.backend.Learned()-learned))
	r.pace.chargeOnce(r.backend.Learned() + r.opening)
	if r.sampled {
		r.took = [2]time.Duration{r.took[1], r.o.Clock() - at}
	}
	r.sampled = true
	r.done.Halted += s.Halt
	r.done.LastHalt = s.Halt
	var ended *EndedError
	switch {
	case errors.As(err, &ended):
		return r.ending(ended.End), true, nil
	case err != nil && r.sinkErr != nil:
		return end, false, fmt.Errorf("recording: %w", r.sinkErr)
	case err != nil && until.Err() != nil: // the recording is over
		r.missed++
		r.lostHalt += s.Halt
		return end, false, nil
	case err != nil:
		r.sink.Warn("lost-sample", err.Error(), 1)
		r.done.Lost++
		r.missed++
		r.lostHalt += s.Halt
		if r.lostToPeer(err) {
			return end, false, nil
		}
		if r.failed++; r.failed >= maxFailures {
			return end, false, fmt.Errorf("%d samples in a row failed, the last: %w", r.failed, err)
		}
		return end, false, nil
	}
	if r.unread != nil {
		r.sink.Warn("unread-monitor", r.unread.Error(), 1)
	}
	r.cpu, r.failed, r.missed, r.lostHalt = cpu, 0, 0, 0
	r.done.Samples++
	r.done.Missed += int64(s.Missed)
	r.done.Elapsed = r.o.Clock()
	r.done.Goroutines = len(r.live)
	r.startMarking(ctx)
	if r.o.Progress != nil {
		r.o.Progress(r.done)
	}
	return end, false, nil
}

// lostToPeer reports whether a sample failed only because
// another sampler was just halting the target. However often
// that happens, the recording goes on.
func (r *recorder) lostToPeer(err error) bool {
	var traced *TracedError
	return errors.As(err, &traced) && r.peers.has(traced.By)
}

// ending returns how the target ended. It prefers what the
// process reports: a backend that finds that a target has ended
// may not know the exit status.
func (r *recorder) ending(end sampledata.End) sampledata.End {
	if end.Cause == sampledata.EndExec {
		return end
	}
	select {
	case <-r.process.Done():
		end = r.process.End()
	case <-time.After(2 * time.Second):
	}
	return end
}

// handedOver is called after each sample that the backend has
// written to the sink.
func (r *recorder) handedOver(_ sampledata.Sample, changes []sampledata.Change, err error) {
	r.done.Unread = 0
	for _, c := range changes {
		if c.Gone {
			delete(r.live, c.Goroutine)
			continue
		}
		r.live[c.Goroutine] = struct{}{}
		if c.State.Torn && c.State.Stack == sampledata.NoStack {
			r.done.Unread++
		}
	}
	r.sinkErr = err
}
