package sampler

import (
	"math"
	"math/rand/v2"
	"time"
)

// horizon is how long a budget takes to get back into balance
// after an expensive sample has overdrawn it. If the sampler
// paid the debt at once, a single slow halt on a busy machine
// would stop it for seconds. Example: 1 % of the time may be
// spent on halts, a halt takes 1 ms, and one took 20 ms more.
// Paid at once, this means no sample for 2 s. Paid within the
// horizon, it means a sample every 125 ms instead of every 100
// ms.
//
// If the end of the recording is not known, it may come soon.
// Then the budget gets back into balance within half of the
// recording's time so far, but not within less than a tenth of
// the horizon.
const horizon = 10 * time.Second

// A budget bounds what a recording spends of one resource: halt
// time or processor time. Each sample uses some of it. Reading
// the program is paid once from the same budget, but never from
// more than half of it: there must be samples meanwhile.
//
// Example: 5 % of a core may be spent, and reading the program's
// symbols took 0.3 s. For the first 12 seconds, the samples get
// 2.5 %; then the symbols are paid, and the samples get 5 %.
type budget struct {
	share  float64       // share of wall time that may be spent; 0 or less: no bound
	since  time.Duration // when share was last changed
	earned float64       // what could be spent until then
	// end of the recording, by when the budget must be in
	// balance; 0 if it is not known
	end    time.Duration
	spent  time.Duration // on samples
	number int           // of these samples
	once   time.Duration // spent on reading the program
	guess  time.Duration // likely cost of the next sample
}

// change sets a new share from now on.
func (b *budget) change(share float64, now time.Duration) {
	b.earned, b.since, b.share = b.whole(now), now, share
}

// whole returns how much may have been spent by a time that is
// not before the last change.
func (b *budget) whole(at time.Duration) float64 { return b.earned + b.share*float64(at-b.since) }

// allowed returns how much of the whole may have been spent on samples.
func (b *budget) allowed(at time.Duration) float64 {
	whole := b.whole(at)
	return whole - min(float64(b.once), whole/2)
}

// charge adds the cost of one sample.
func (b *budget) charge(cost time.Duration) {
	cost = max(cost, 0)
	b.number++
	if b.spent == 0 {
		// the first is expensive, and may have met a busy moment
		b.guess = min(cost, saturated(b.share*float64(horizon)/1000))
	}
	b.spent += cost
	if cost < b.guess {
		// the first sample is expensive, and other expensive samples are
		// rare
		b.guess -= (b.guess - cost) / 2
	} else {
		b.guess += (min(cost, 10*b.guess+time.Microsecond) - b.guess) / 8
	}
}

// earliest returns the earliest time of the next sample, given
// the time of the last one. It spaces the samples: at their
// likely cost, they spend the allowed share of the time. If too
// much was spent before, it spaces them further apart, and the
// debt is paid back by the horizon. Savings from earlier are not
// made up for.
//
// Example: a share of 1 %, 1 ms a sample, a horizon of 10 s.
// Without a debt, a sample may be taken every 100 ms. With a
// debt of 50 ms, only 50 of the next 100 ms of budget are left
// for samples: one may be taken every 200 ms. A debt of over 75
// ms leaves too little: there is no sample until some debt is
// paid back.
func (b *budget) earliest(last, now time.Duration) time.Duration {
	if b.share <= 0 || b.spent == 0 {
		return 0
	}
	ahead := b.ahead(now)
	income := b.allowed(now+ahead) - b.allowed(now)
	debt := max(0, float64(b.spent)-b.allowed(now))
	if debt > income*3/4 {
		// when enough of the debt is paid back
		return saturated(float64(now) + debt*float64(ahead)/income - float64(ahead)/2)
	}
	return saturated(float64(last) + float64(b.guess)*float64(ahead)/(income-debt))
}

// ahead returns for how long from now on the budget may be out of balance.
func (b *budget) ahead(now time.Duration) time.Duration {
	ahead := max(now/2, horizon/10)
	if b.end > 0 {
		ahead = max(b.end-now, horizon/100)
	}
	return min(ahead, horizon)
}

// advance is the part of the horizon for which reading the
// program is paid in advance.
const advance = 5

// mayRead returns how much may have been spent on reading the
// program by now: half of the budget, and a little in advance,
// since what is known early is of use to all samples.
func (b *budget) mayRead(now time.Duration) time.Duration {
	if b.share <= 0 {
		return math.MaxInt64
	}
	return saturated(b.whole(now+min(b.ahead(now), horizon/advance)) / 2)
}

// saturated converts a time to a Duration; one that is too large
// becomes the largest Duration.
func saturated(t float64) time.Duration {
	if t >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t)
}

// A pacer decides when to take the next sample. Time is cut into
// intervals of 1/rate, with one tick each. The tick is at the
// start of its interval (jitter 0), or later by a random time of
// up to the whole interval (jitter 1); so a periodic target is
// not always sampled in the same phase. If a budget does not
// allow a tick, or the previous sample took too long, whole
// intervals are skipped. Each skipped interval is one missed
// tick.
//
// The budgets of halts and of processor time always hold for the
// samples. So does the budget of what the target loses: the
// processor time that the sampler takes from it, and the time
// for which it could have used the other processors while it was
// halted. One more holds only for samples above a floor: the
// processor time that the target can spare for a better
// recording.
//
// Example: no processor of two is idle. Of samples that take 0.2
// ms of processor time and halt for 0.1 ms, the target can spare
// 50 a second, which are half a percent. Of samples that take
// 0.8 ms and halt for 0.2 ms, the floor allows 20: the target
// loses 1 %. Of samples that take 2 ms and halt for 0.2 ms, the
// target would lose more, so there are only 9 a second. Of
// samples that take 10 ms there are 5: a recording with fewer
// would say nothing.
//
// On a slow machine, or if all goroutines are new, the samples
// that an answer needs can take more processor time than cpprof
// uses by default. If the user sets no bound, they get up to
// five times as much: of samples that take 100 ms there are 2 a
// second, not one in 2 s.
type pacer struct {
	interval time.Duration
	jitter   float64
	random   func() float64 // in [0, 1)
	halt     budget         // budget of the time that the target is halted
	cpu      budget         // budget of the sampler's own processor time
	spare    budget         // likewise, for samples above the floor
	loss     budget         // budget of the processor time that the target loses
	most     budget         // budget of processor time, for samples below the floor
	yields   bool           // cpu gives way to most
	lasts    bool           // the target does not end soon
	longest  time.Duration  // without a sample, if it does
	others   float64        // the number of processors but the sampler's
	begun    bool           // the first sample was taken
	first    time.Duration  // its processor time
	last     int64          // interval of the last tick; -1 before the first
	lastAt   time.Duration  // time of the last tick
	used     int64          // interval of the last tick that was waited for; -1 before the first
}

// A recording has at least Floor samples a second if the budgets
// of halts, of processor time and of the target's loss allow it.
const Floor = 20

// minRate is how many samples a second there are whatever the
// target loses.
const minRate = 5

// needed is how many samples an answer needs, and leastRate how
// many there are a second in any case, although they take more
// processor time than the default bound: up to yielding times as
// much.
const (
	needed    = 100
	leastRate = 2
	yielding  = 5
)

func newPacer(o Options) *pacer {
	p := &pacer{
		interval: max(time.Duration(float64(time.Second)/o.Rate), 1),
		jitter:   o.Jitter,
		random:   rand.Float64,
		halt:     budget{share: o.MaxOverhead, end: o.Duration},
		cpu:      budget{share: o.MaxCPU, end: o.Duration},
		spare:    budget{end: o.Duration},
		loss:     budget{end: o.Duration},
		others:   float64(o.processors() - 1),
		last:     -1,
		used:     -1,
		lasts:    o.Lasting,
	}
	if o.Yield {
		p.yields, p.longest = true, time.Second/leastRate
		if o.Duration > 0 {
			p.longest = min(p.longest, o.Duration/needed)
		}
		p.most = budget{share: yielding * o.MaxCPU, end: o.Duration}
		p.spare.share = o.MaxCPU // until it is known how many processors are idle
		p.loss.share = bearable(o.processors(), 0)
	}
	return p
}

// setCPU sets the sampler's own processor time from now on.
func (p *pacer) setCPU(most float64, now time.Duration) {
	p.cpu.change(most, now)
	if p.yields {
		p.most.change(yielding*most, now)
		p.spare.change(min(p.spare.share, most), now)
	}
}

// yield adapts the budgets to a number of idle processors.
func (p *pacer) yield(o Options, idle float64, now time.Duration) {
	p.spare.change(spared(o.MaxCPU, o.processors(), idle), now)
	p.loss.change(bearable(o.processors(), idle), now)
}

// next returns the time of the next tick that is not before now.
// It also returns the number of ticks missed since the last one.
func (p *pacer) next(now time.Duration) (at time.Duration, missed int64) {
	atFloor := p.lastAt + p.before(time.Second/Floor)
	loss := min(p.loss.earliest(p.lastAt, now), p.lastAt+p.before(time.Second/minRate))
	spare := min(p.spare.earliest(p.lastAt, now), atFloor)
	cpu := p.cpu.earliest(p.lastAt, now)
	if p.yields {
		cpu = min(cpu, max(p.most.earliest(p.lastAt, now), p.lastAt+p.before(p.longest)))
	}
	from := max(p.halt.earliest(p.lastAt, now), loss, cpu, spare)
	from = max(now, from-p.rounding())
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

// rounding returns how much later than allowed the next tick is
// on average. There is only one tick in each interval. If ticks
// are anywhere in their intervals, the delay is seven twelfths
// of an interval.
func (p *pacer) rounding() time.Duration { return min(p.interval, time.Second/Floor) * 7 / 12 }

// before returns after how long a tick is due so that there is
// one in a time. A part of an interval is left for samples that
// are late.
func (p *pacer) before(t time.Duration) time.Duration { return max(0, t-p.interval/2) }

// use records that the last tick that next returned has come.
func (p *pacer) use() { p.used = p.last }

// unused returns the number of ticks that have passed since the
// last one that was used.
func (p *pacer) unused(now time.Duration) int64 { return max(0, int64(now/p.interval)-p.used-1) }

// A Bound is the limit that kept a recording from taking more samples.
type Bound struct {
	// the flag that sets it: "--max-cpu" (processor time) or
	// "--max-overhead" (halts); "" if there was no such limit
	Flag  string
	Share float64       // share of the time that it allows
	Cost  time.Duration // average cost of a sample
	// Used is the share of the time that the samples took, if
	// the bound gave way to samples that an answer needs; 0
	// otherwise.
	Used float64
}

// bound returns the limit that is used up.
func (p *pacer) bound(now time.Duration) Bound {
	const usedUp = 0.8
	for _, b := range []struct {
		flag string
		of   *budget
	}{{"--max-cpu", &p.cpu}, {"--max-overhead", &p.halt}, {"--max-cpu", &p.loss},
		{"--max-cpu", &p.spare}} {
		if b.of.share > 0 && b.of.number > 0 && float64(b.of.spent) > usedUp*b.of.allowed(now) {
			return Bound{Flag: b.flag, Share: b.of.share,
				Cost: b.of.spent / time.Duration(b.of.number), Used: p.exceeded(b.of, now)}
		}
	}
	return Bound{}
}

// exceeded returns the share of the time that was spent of a
// budget, if it is the one that gives way, and has; 0 otherwise.
func (p *pacer) exceeded(b *budget, now time.Duration) float64 {
	const clearly = 1.2
	if !p.yields || b != &p.cpu || float64(b.spent) < clearly*b.allowed(now) {
		return 0
	}
	return float64(b.spent) / float64(now)
}

// charge records what the sample at the last tick cost. The
// first sample reads the stacks of all goroutines, later ones
// those that have changed. So its processor time is spent once.
func (p *pacer) charge(halt, cpu time.Duration) {
	p.halt.charge(halt)
	if !p.begun {
		p.begun, p.first = true, max(cpu, 0)
		return
	}
	p.cpu.charge(cpu)
	p.spare.charge(cpu)
	p.most.charge(cpu)
	p.loss.charge(cpu + time.Duration(p.others*float64(halt)))
}

// mayLearn returns the processor time that the backend may have
// spent by now on reading the program. The first sample does not
// count. A bound that gives way to samples gives way to what is
// read first, too, unless the program may end soon: without the
// holders of locks, an answer says less.
func (p *pacer) mayLearn(now time.Duration) time.Duration {
	most := p.cpu.mayRead(now)
	if p.yields && p.lasts {
		most = max(most, saturated(p.most.share*float64(horizon/advance)))
	}
	return most - p.first
}

// chargeOnce records the processor time that reading the program has cost
// in all.
func (p *pacer) chargeOnce(cpu time.Duration) {
	p.cpu.once, p.most.once = p.first+cpu, cpu
}
