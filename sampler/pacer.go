package sampler

import (
	"math"
	"math/rand/v2"
	"time"
)

// horizon is the time over which a budget that was overdrawn by a dear sample is brought back into balance. Were the
// debt paid at once, a single halt that met a busy machine would silence the sampler for seconds. A recording whose end
// is not known may be over soon: the time is half of what it has lasted then, but at least a tenth of the horizon.
const horizon = 10 * time.Second

// A budget bounds what a recording may spend of something that grows with every sample.
type budget struct {
	share  float64       // of wall time; 0 or less: no bound
	since  time.Duration // when it came to be that
	earned float64       // until then
	end    time.Duration // of the recording, where it is known: the budget is in balance then; else 0
	spent  time.Duration
	guess  time.Duration // what a sample is likely to cost
}

// change makes the share another one from now on.
func (b *budget) change(share float64, now time.Duration) {
	b.earned, b.since, b.share = b.allowed(now), now, share
}

// allowed is what may have been spent by a time that is not before the last change.
func (b *budget) allowed(at time.Duration) float64 { return b.earned + b.share*float64(at-b.since) }

// charge adds the cost of one sample.
func (b *budget) charge(cost time.Duration) {
	cost = max(cost, 0)
	if b.spent == 0 {
		b.guess = min(cost, saturated(b.share*float64(horizon)/1000)) // the first is dear, and may have met a busy moment
	}
	b.spent += cost
	if cost < b.guess {
		b.guess -= (b.guess - cost) / 2 // the first one is dear, and dear ones are rare
	} else {
		b.guess += (min(cost, 10*b.guess+time.Microsecond) - b.guess) / 8
	}
}

// earliest is the first time for a sample after that at last: samples of the likely cost, taken so far apart, spend
// the bound's share of the time, or as much less as pays back by the horizon what was spent beyond it. What was
// not spent earlier is not made up for.
func (b *budget) earliest(last, now time.Duration) time.Duration {
	if b.share <= 0 || b.spent == 0 {
		return 0
	}
	ahead := max(now/2, horizon/10)
	if b.end > 0 {
		ahead = max(b.end-now, horizon/100)
	}
	ahead = min(ahead, horizon)
	income := b.share * float64(ahead)
	debt := max(0, float64(b.spent)-b.allowed(now))
	if debt > income*3/4 {
		return saturated(float64(now) + debt/b.share - float64(ahead)/2) // when some of that is paid back
	}
	return saturated(float64(last) + float64(b.guess)*float64(ahead)/(income-debt))
}

// saturated is a time that may be beyond what a Duration holds.
func saturated(t float64) time.Duration {
	if t >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t)
}

// A pacer says when to take the next sample. Time is cut into intervals of 1/rate, each with one tick: at its
// start (jitter 0), or moved by up to the whole interval at random (jitter 1), so that a periodic target is not
// always met in the same phase. Where a budget does not allow a tick, or the sample before took too long, whole
// intervals are passed over; they are the missed ticks.
type pacer struct {
	interval time.Duration
	jitter   float64
	random   func() float64 // in [0, 1)
	halt     budget         // time that the target stood still
	cpu      budget         // the sampler's own
	last     int64          // interval of the tick given last; -1 before the first
	lastAt   time.Duration  // that tick
	used     int64          // interval of the last tick that was waited for; -1 before the first
}

func newPacer(o Options) *pacer {
	return &pacer{
		interval: max(time.Duration(float64(time.Second)/o.Rate), 1),
		jitter:   o.Jitter,
		random:   rand.Float64,
		halt:     budget{share: o.MaxOverhead, end: o.Duration},
		cpu:      budget{share: o.MaxCPU, end: o.Duration},
		last:     -1,
		used:     -1,
	}
}

// next gives the time of the next tick that is not before now, and how many were passed over since the last one.
func (p *pacer) next(now time.Duration) (at time.Duration, missed int64) {
	from := max(now, p.halt.earliest(p.lastAt, now), p.cpu.earliest(p.lastAt, now))
	slot := max(p.last+1, int64(from/p.interval))
	for {
		at = time.Duration(slot)*p.interval + time.Duration(p.jitter*p.random()*float64(p.interval))
		if at >= from || at < 0 {
			break
		}
		slot++
	}
	missed = slot - p.last - 1
	p.last, p.lastAt = slot, at
	return at, missed
}

// use notes that the tick that next returned last has come.
func (p *pacer) use() { p.used = p.last }

// unused returns how many ticks have gone by since the last one that was used.
func (p *pacer) unused(now time.Duration) int64 { return max(0, int64(now/p.interval)-p.used-1) }

// A Bound is what kept a recording from taking more samples.
type Bound struct {
	Flag  string        // that sets it: "--max-cpu" (of processor time) or "--max-overhead" (of halts); "" if none did
	Share float64       // of the time that it allows
	Cost  time.Duration // of a sample, on average
}

// bound returns the bound that is used up.
func (p *pacer) bound(now time.Duration, samples int64) Bound {
	const usedUp = 0.8
	for _, b := range []struct {
		flag string
		of   *budget
	}{{"--max-cpu", &p.cpu}, {"--max-overhead", &p.halt}} {
		if b.of.share > 0 && samples > 0 && float64(b.of.spent) > usedUp*b.of.allowed(now) {
			return Bound{b.flag, b.of.share, b.of.spent / time.Duration(samples)}
		}
	}
	return Bound{}
}

// charge tells what the sample at the last tick cost.
func (p *pacer) charge(halt, cpu time.Duration) {
	p.halt.charge(halt)
	p.cpu.charge(cpu)
}
